// Of a belay under test: a signal comes when its verdict is out, while what it laid out is being removed and at its very last moment.
const { rm } = require('node:fs/promises');
const fs = require('node:fs/promises');

const signal = () => process.kill(process.pid, 'SIGTERM');
fs.rm = (path, ...rest) => {
  if (String(path).includes('belay-verify-')) signal();
  return rm(path, ...rest);
};
const { exit } = process;
process.exit = (code) => {
  signal();
  return exit.call(process, code);
};
