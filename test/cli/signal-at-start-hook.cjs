// Of a belay under test: a signal comes as soon as it is held, while the program is still being read.
const { on } = process;
process.on = (name, listener) => {
  const answer = on.call(process, name, listener);
  if (name === 'SIGTERM') process.kill(process.pid, name);
  return answer;
};
