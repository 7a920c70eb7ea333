package rules

import (
	"time"

	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Situation is the input of the rules. Nothing in it is modified.
type Situation struct {
	Table     *topology.Table
	Directory *placement.Directory
	Profile   *profile.Profile
	Now       time.Time
	Bounds    Bounds // of severity, where they are not the defaults

	Counting bool     // writes are counted here
	Writes   []Writes // of the collections that have been counted, over Window
	Loads    Loads    // by the servers' own counters; empty: not read yet
	// Minutes are those of which the rules on writes were judged, and what was counted later; nil: only Writes count.
	Minutes *JudgedMinutes

	// Surveyed is a project's bytes in a collection by the last survey; nil where
	// there was none.
	Surveyed func(topology.Namespace, string) topology.Figure
	Off      SettingSince               // since when the balancer has been off
	SetSince map[SettingOf]SettingSince // of settings that are not as usual; nil: not known
	Pins     map[string]Pin             // what is known of pinned projects beside their zones, by hex id; nil: nothing

	Paused       []PausedBalancing // what runs of ours have paused
	PausedUnread bool              // that could not be read

	Unsealed []store.Unsealed // rows of the store that do not count, seen in the last day

	// Past: the table is of a past time, of which history keeps the routing, zones
	// and settings and nothing of writes, disks and routers.
	Past bool
}

// Writes is what was counted of a collection lately: all of its new rows.
type Writes struct {
	NS       topology.Namespace
	Over     time.Duration // that was asked for
	Seconds  float64       // that were covered
	To       time.Time
	Total    heat.Rate
	Projects []heat.Line // hottest first
	// ProjectShards is what the hottest project writes on each shard, hottest first.
	ProjectShards []heat.Line
	Shards        []heat.Line // all that own a part of it
	Chunks        []ChunkWrites
	Growing       heat.Growing
	Failed        bool // the last count failed
}

// Pin is what the plan that made a pin said of it.
type Pin struct {
	Expires time.Time // zero: never
	Owner   string    // hostile text
}

// hottestChunks is how many chunks of each collection are looked at: more than
// four cannot have a quarter of its writes each, and each shard has a busiest one.
const hottestChunks = 24

// WritesOf is what a collector has counted over a time span before its newest count, as the rules want it.
func WritesOf(c *heat.Collector, t *topology.Table, prof *profile.Profile, over time.Duration) []Writes {
	return writesOf(c, t, prof, over, func(ns topology.Namespace) heat.Window { return c.Window(ns, over) })
}

// writesBetween is what was counted in [from, to).
func writesBetween(c *heat.Collector, t *topology.Table, prof *profile.Profile, from, to time.Time) []Writes {
	return writesOf(c, t, prof, to.Sub(from), func(ns topology.Namespace) heat.Window { return c.Between(ns, from, to) })
}

func writesOf(c *heat.Collector, t *topology.Table, prof *profile.Profile, over time.Duration,
	window func(topology.Namespace) heat.Window,
) []Writes {
	var out []Writes
	for _, ns := range c.Counted(t) { // a project's share among the hottest only would be no share of the writes
		w := window(ns)
		h, _ := c.Health(ns)
		if w.Seconds == 0 && h.Err == nil {
			continue // nothing counted yet
		}
		lines := w.Chunks(t, prof)
		lines = lines[:min(len(lines), hottestChunks)]
		var chunks []ChunkWrites
		for i, s := range w.Splittings(t, prof, lines) {
			chunks = append(chunks, ChunkWrites{Min: t.Collection(ns).Chunks.At(lines[i].Chunk).Min, Line: lines[i], Split: s})
		}
		projects := w.Projects()
		out = append(out, Writes{NS: ns, Over: over, Shards: w.Shards(t, prof), Chunks: chunks, Seconds: w.Seconds, To: w.To, Total: w.Total,
			Projects: projects, ProjectShards: projectShards(w.ProjectShards(t, prof), projects), Growing: w.Growing(t), Failed: h.Err != nil})
	}
	return out
}

// projectShards are the lines of the hottest project.
func projectShards(lines, projects []heat.Line) (out []heat.Line) {
	for _, l := range lines {
		if len(projects) > 0 && l.Project == projects[0].Project && l.Shard != "" {
			out = append(out, l)
		}
	}
	return out
}
