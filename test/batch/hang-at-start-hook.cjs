// Of a belay under test: the process of a job never begins, as Node itself does where its user has too few threads left.
if (process.argv.includes('--job')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
