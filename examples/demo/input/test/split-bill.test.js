import assert from 'node:assert/strict';
import test from 'node:test';
import { splitBill } from '../src/split-bill.js';

const bills = [
  [1000, 3],
  [1001, 4],
  [1003, 4],
  [5, 7],
];
const sum = (shares) => shares.reduce((total, share) => total + share, 0);

test('a bill that divides evenly is shared evenly', () => {
  assert.deepEqual(splitBill(900, 3), [300, 300, 300]);
});

test('the shares add up to the bill', () => {
  for (const [total, people] of bills) assert.equal(sum(splitBill(total, people)), total, `${total} cents, ${people} people`);
});

test('nobody pays over a cent more than anybody else', () => {
  for (const [total, people] of bills) {
    const shares = splitBill(total, people);
    assert.ok(Math.max(...shares) - Math.min(...shares) <= 1, `${total} cents, ${people} people: ${shares}`);
  }
});
