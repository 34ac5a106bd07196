/** verify/: checks, baseline, attempts, the clean room, classification → `Verdict`. */
export { type AttemptSite, runAttemptRound } from './attempt-round.ts';
export { type Baseline, type BaselineEnd, type BaselineSite, runBaseline } from './baseline.ts';
export type { CheckOutput, CheckRun } from './check-run.ts';
export { classify, evidenceOf, type Seen } from './classify.ts';
export { createRooms, type RoomSetup, type RoomsOptions } from './clean-room.ts';
export { countTests, createTestCounter, type TestCounter } from './count-tests.ts';
export { renderEvidence } from './evidence.ts';
export { type FinalSite, runFinalRound } from './final-round.ts';
export { type FoundHoldout, findHoldouts, type Holdouts } from './holdout.ts';
export { type Judged, judge, type Verdict } from './judge.ts';
export { changesJudge } from './judging-manifest.ts';
export type { CheckPorts, Place } from './place.ts';
export { removeTree } from './remove-tree.ts';
export { reserveFor } from './reserve.ts';
export type { Room, RoomOpening, Rooms } from './rooms.ts';
export type { Round } from './round.ts';
export { type CheckSite, runCheck } from './run-check.ts';
export { RUNNER_CONFIGS, splitTestChanges, type TestChanges } from './test-changes.ts';
