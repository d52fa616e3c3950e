/**
 * Places in the audit. Each hub that works at the same time as others has a chain of rows of its own, so a place is the number of the last row of each,
 * separated by dots; a single number is that of a hub that has its database alone. Numbers of rows may be larger than those that JavaScript has.
 */

/** A number names its chain by what is above these bits. */
const BITS = 38n;

/** @typedef {number | string} Place */

const numbers = (/** @type {Place} */ place) => String(place).split('.').map(BigInt);
const chainOf = (/** @type {bigint} */ number) => number >> BITS;

/** The number of a chain up to which all rows come before a place; undefined for all rows of the chain. @param {bigint[]} place @param {bigint} chain */
function reached(place, chain) {
  const own = place.find(number => chainOf(number) === chain);
  return own ?? (chain > chainOf(place[place.length - 1]) ? chain << BITS : undefined);
}

/** Whether a row, or all rows up to another place, come before a place. @param {Place} place @param {Place} other */
export function includes(place, other) {
  const own = numbers(place);
  return numbers(other).every(number => {
    const last = reached(own, chainOf(number));
    return last === undefined || number <= last;
  });
}

/** Number of rows from one place to another. @param {Place} from @param {Place} to */
export function rowsBetween(from, to) {
  const begin = numbers(from);
  return Number(numbers(to).reduce((sum, number) => {
    const last = reached(begin, chainOf(number)) ?? number;
    return number > last ? sum + number - last : sum;
  }, 0n));
}

/** Whether a place is the number of rows of the log: there never were several hubs. @param {Place | undefined} place @returns {place is number} */
export const isCount = place => typeof place === 'number' && chainOf(BigInt(place)) === 0n;

/** The place before a row. @param {string} number */
export const placeBefore = number => String(BigInt(number) - 1n);
