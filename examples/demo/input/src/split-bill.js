/**
 * Splits a bill between people. Amounts are whole cents.
 * @param {number} totalCents
 * @param {number} people
 * @returns {number[]} one share for each person
 */
export function splitBill(totalCents, people) {
  const share = Math.round(totalCents / people);
  return Array.from({ length: people }, () => share);
}
