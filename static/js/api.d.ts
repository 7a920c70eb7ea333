// The answers of the JSON API that scripts read, for the type checker. Do not edit: written by
// TestTypesOfScriptsFollowTheDescription from the description of the API.

export interface ClusterMap {
  asOf: string;
  bands: MapBand[];
  hidden: number;
  incomplete?: string;
  more: number;
  moving: MapMove[];
  movingMore: number | null;
  scale: MapScale;
  shards: MapShard[];
  since: string | null;
  stale: boolean;
}

export type Figure = { at: string | null; exact: boolean; method: string; plusMinus?: number; value: number; } | { reason: string; value: null; };

export interface Found {
  asOf: string;
  items: FoundItem[];
  more: number;
  query: string;
  stale: boolean;
}

export interface FoundItem {
  detail: string;
  kind: string;
  name: string;
  url: string;
}

export interface HeatMap {
  asOf: string;
  by: string;
  cells: string[];
  columns: HeatSpan[];
  from: string;
  marks: HeatMark[];
  max: unknown;
  method: HeatMethod;
  ns: string;
  oldest: string | null;
  ownersSince: string | null;
  rows: HeatRow[];
  scale: HeatScale;
  shards: HeatShard[];
  stale: boolean;
  to: string;
  version: string;
}

export interface HeatMark {
  at: string;
  count: number;
  failed?: boolean;
  kind: string;
  parts?: HeatMarkPart[];
  text: string;
  to?: string | null;
  url: string;
}

export interface HeatMarkPart {
  at: string;
  failed?: boolean;
  text: string;
  to?: string | null;
  url: string;
}

export interface HeatMethod {
  counts: string;
  everySeconds: number;
  lowerBound: boolean;
  of: string;
  projects?: number;
}

export interface HeatOwner {
  shard: string;
  until: string;
}

export interface HeatRow {
  chunks?: number;
  detail?: string;
  hashed?: boolean;
  key: string;
  label: string;
  min?: unknown;
  mixed?: boolean;
  name?: string;
  number?: number;
  project?: string;
  ref?: string;
  shard?: string;
  share?: number;
  was?: HeatOwner[];
}

export interface HeatScale {
  least: number;
  letters: string;
  step: number;
  unknown: string;
  zero: string;
}

export interface HeatShard {
  name: string;
  rows: number;
}

export interface HeatSpan {
  astray?: number;
  atLeast?: boolean;
  covered: number;
  from: string;
  hottest?: boolean;
  how?: string;
  sampled?: boolean;
  seconds: number;
  shared?: boolean;
}

export interface MapBand {
  bytes: Figure;
  heat: boolean;
  jumbo: number;
  ns: string;
  sharded: boolean;
  total: number;
  unsharded?: string;
  version: string;
  zoned: boolean;
}

export interface MapChunk {
  age: number | null;
  asOf: string;
  bytes: Figure;
  heat: number | null;
  jumbo: boolean;
  max: unknown;
  maxText: string;
  min: unknown;
  minText: string;
  name?: string;
  ns: string;
  outside: boolean;
  position: number;
  project?: string;
  shard: string;
  stale: boolean;
  to?: string;
  total: number;
  url?: string;
  version: string;
  zone?: string;
}

export interface MapHeat {
  high: number | null;
  low: number | null;
  window: string;
}

export interface MapMarks {
  age: (number | null)[];
  at: number[];
  bytes: (number | null)[];
  chunks: number[];
  flags: number[];
  heat: (number | null)[];
  peak: (number | null)[];
  shard: number[];
  share: number[];
}

export interface MapMove {
  arrived: boolean;
  chunks: number;
  from: string;
  ns: string;
  position: number;
  since: string;
  to: string;
}

export interface MapScale {
  age: MapSpan;
  bytes: MapSpan;
  heat: MapHeat;
}

export interface MapShard {
  color: number;
  label: string;
  name: string;
  pattern: number;
}

export interface MapSpan {
  high: number | null;
  low: number | null;
}

export interface MapTile {
  asOf: string;
  exact: boolean;
  from: number;
  heatIsAtLeast: boolean;
  index: number;
  level: number;
  marks: MapMarks;
  moreZones: number;
  ns: string;
  shards: string[];
  stale: boolean;
  to: number;
  total: number;
  version: string;
  zones: MapZone[];
}

export interface MapZone {
  from: number;
  name: string;
  pin?: string;
  project?: string;
  to: number;
}
