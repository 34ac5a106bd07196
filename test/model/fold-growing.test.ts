import { expect, it } from 'vitest';
import { foldGrowing } from '../../src/model/fold-growing.ts';

const items = ['a', 'b', 'c', 'd'].map((name) => ({ name }));
const namesIn = (list: readonly { name: string }[]) => list.map(({ name }) => name);

it('a fold that fails on the way gives, asked again, what it would have given', () => {
  let failsAt: string | null = null;
  const fold = foldGrowing<{ name: string }, string[]>({
    start: () => [],
    add(state, { name }) {
      if (name === failsAt) throw new Error(`no ${name}`);
      state.push(name);
      return state;
    },
  });
  const [some, all] = [items.slice(0, 2), items];
  expect([...fold(some)]).toEqual(namesIn(some));
  failsAt = 'd';
  expect(() => fold(all)).toThrow('no d');
  expect([...fold(some)]).toEqual(namesIn(some));
  expect(() => fold(all)).toThrow('no d');
  failsAt = null;
  expect([...fold(all)]).toEqual(namesIn(all));
  failsAt = 'a';
  const others = items.toReversed();
  expect(() => fold(others)).toThrow('no a');
  failsAt = null;
  expect([...fold(all)]).toEqual(namesIn(all));
});
