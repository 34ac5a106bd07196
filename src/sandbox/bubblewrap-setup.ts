import type { Bounds } from './bounds.ts';
import type { CgroupHome } from './cgroup.ts';
import type { CommandUser } from './command-user.ts';
import type { BridgeSetup } from './egress/bridges.ts';
import type { OutputPipes } from './output-pipes.ts';
import type { Scratch } from './scratch.ts';
import type { SystemView } from './system-view.ts';

/** What one run's commands have in common. */
export interface BubblewrapSetup {
  bwrap: string;
  user: CommandUser;
  view: SystemView;
  overlays: Readonly<Record<string, string>>;
  masked: readonly { path: string; shape: 'file' | 'folder' }[];
  bounds: Bounds;
  /** The workspace may not be written, whatever a command's mounts say. */
  readOnly: boolean;
  /** Folders of the user's: their files keep their owner. */
  given: readonly string[];
  scratch: Scratch;
  filterFile: string;
  pipes: OutputPipes;
  cgroups: CgroupHome | null;
  /** What leads out of a fence; `perl: null` where nothing can. */
  bridge: BridgeSetup;
}
