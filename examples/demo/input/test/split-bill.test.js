import test from 'node:test';
import { splitBill } from '../src/split-bill.js';

const bills = [
  [900, 3],
  [1000, 3],
  [1001, 4],
  [1003, 4],
  [5, 7],
];

/** Checks the shares of every bill; the first bad ones are the message. */
function eachBill(holds) {
  for (const [total, people] of bills) {
    const shares = splitBill(total, people);
    if (!holds(shares, total)) throw new Error(`${total} cents, ${people} people: ${shares.join(' + ')}`);
  }
}

test('every share is whole cents', () => {
  eachBill((shares) => shares.every(Number.isInteger));
});

test('the shares add up to the bill', () => {
  eachBill((shares, total) => shares.reduce((sum, share) => sum + share, 0) === total);
});

test('nobody pays over a cent more than anybody else', () => {
  eachBill((shares) => Math.max(...shares) - Math.min(...shares) <= 1);
});
