/** context/: what the model sees. Instructions, transcript, head-tail buffer, token estimate. */
export {
  type FirstMessageParts,
  type InstructionFile,
  type ReferenceFile,
  renderFirstMessage,
} from './first-message.ts';
export { type BoundedText, createHeadTailBuffer, type HeadTailBuffer } from './head-tail.ts';
export { SYSTEM_PROMPT } from './system-prompt.ts';
export { createTranscript, type Source, type Transcript } from './transcript.ts';
