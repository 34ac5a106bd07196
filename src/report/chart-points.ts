import type { ChartPoint } from './report-view.ts';

/** More cannot be told apart on a screen. */
const MAX_POINTS = 600;

/** The points of the charts: every turn, then every 2nd, 4th … of a run that goes on and on. */
export function createChartPoints() {
  let points: ChartPoint[] = [];
  let stride = 1;
  let seen = 0;
  let last: ChartPoint | null = null;
  return {
    add(point: ChartPoint): void {
      last = point;
      if (seen++ % stride !== 0) return;
      points.push(point);
      if (points.length < MAX_POINTS) return;
      points = points.filter((_, i) => i % 2 === 0);
      stride *= 2;
    },
    /** The last turn is always among them. */
    read(): ChartPoint[] {
      return last === null || points.at(-1) === last ? points : [...points, last];
    },
  };
}
