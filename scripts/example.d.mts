export declare const checkout: string;
export declare const CASSETTES: readonly ['right', 'wrong', 'cheat'];
export declare function listExamples(): Promise<string[]>;
export declare function layOut(slug: string, dir: string): Promise<string>;
export declare function commitAll(dir: string, message: string): void;
export declare function runArguments(slug: string, cassette: string, dir: string): string[];
