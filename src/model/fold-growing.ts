export interface GrowingFold<Item, State> {
  start(): State;
  /** Changes `state`, or gives another. */
  add(state: State, item: Item): State;
}

/**
 * The fold of a list that mostly grows from one call to the next: what was folded before is not looked at again, so that a long thread
 * costs no more a turn than a short one. A list that differs (another object at any place, or fewer of them) is folded anew. Items are immutable.
 */
export function foldGrowing<Item extends object, State>(
  fold: GrowingFold<Item, State>,
): (items: readonly Item[]) => State {
  let folded: readonly Item[] = [];
  let state = fold.start();
  return (items) => {
    const known = startsWith(items, folded) ? folded.length : 0;
    let next = known === 0 ? fold.start() : state;
    // `add` may change the state that it is given: where it throws, the next call folds anew.
    folded = [];
    for (const item of items.slice(known)) next = fold.add(next, item);
    folded = items.slice();
    state = next;
    return next;
  };
}

function startsWith<Item>(items: readonly Item[], start: readonly Item[]): boolean {
  for (let at = 0; at < start.length; at += 1) if (items[at] !== start[at]) return false;
  return true;
}
