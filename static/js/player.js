// Plays something step by step: changes of a page of the past, hours of the cluster map, cards of a game.

/** @typedef {{playing: () => boolean, stop: () => void, toggle: () => void}} Player */

// player takes a step some ms after the one before is done, until one returns false. show is told whether it plays.
/** @type {(step: () => Promise<boolean>, pause: () => number, show: (playing: boolean) => void) => Player} */
export function player(step, pause, show) {
  let timer = 0; // of the next step; 0 while not playing
  let plays = 0; // begun so far: a step that takes long must not go on in the next one

  function stop() {
    clearTimeout(timer);
    timer = 0;
    show(false);
  }

  async function play() {
    const mine = ++plays;
    timer = 1;
    show(true);
    while ((await step()) && timer && mine === plays) await new Promise((done) => (timer = setTimeout(done, pause())));
    if (mine === plays) stop();
  }

  return { playing: () => timer > 0, stop, toggle: () => (timer ? stop() : play()) };
}
