package actions

import (
	"strconv"
	"strings"

	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// maxChunkMB is the largest chunk size that servers accept, in MB.
const maxChunkMB = 1024

// SetsCollection reports whether the step changes a setting of a collection that decides
// what the balancer does with its chunks.
func (s Step) SetsCollection() bool {
	switch s.Op {
	case OpMigrations, OpChunkSize, OpAutoMerge, OpDefragment:
		return true
	}
	return false
}

// settingWanted is the field of FactCollection that proves the step, and its value.
func (s Step) settingWanted() (field, value string) {
	switch s.Op {
	case OpMigrations:
		return "migrationsBlocked", strconv.FormatBool(!s.On)
	case OpChunkSize:
		return "chunkSize", chunkSizeText(int64(s.Size) << 20)
	case OpAutoMerge:
		return "autoMerge", strconv.FormatBool(s.On)
	}
	if s.On {
		return "defragmenting", "true"
	}
	// The server ends a defragmentation with its last phase, which takes a while.
	return "defragmentationEnds", "true"
}

// setting completes a step that changes a setting of a collection: the collection must
// still be the same, with the value that it has now.
func (d *draftBuilder) setting(c *topology.Collection, s Step) Step {
	s.NS = c.NS
	field, value := s.settingWanted()
	need := sameCollection(c)
	need.Want[field] = collectionFields(c.Meta)[field]
	s.Needs = []Fact{need}
	s.Proof = []Fact{{Kind: FactCollection, NS: c.NS, Want: map[string]string{field: value}}}
	return s
}

// settingPattern describes a step that changes a setting of a collection.
func (s Step) settingPattern() string {
	switch s.Op {
	case OpMigrations:
		if s.On {
			return "Allow moves of {ns}"
		}
		return "Block all moves of {ns}"
	case OpChunkSize:
		if s.Size == 0 {
			return "Use the cluster’s chunk size for {ns}"
		}
		return "Set the chunk size of {ns} to {size}"
	case OpAutoMerge:
		if s.On {
			return "Turn on automatic merging of {ns}"
		}
		return "Turn off automatic merging of {ns}"
	}
	if s.On {
		return "Start to defragment {ns}"
	}
	return "Stop defragmenting {ns}"
}

// undoSetting restores the setting that a step changed. If it has been changed since, it
// is left alone.
func (d *draftBuilder) undoSetting(s Step) error {
	c := d.s.Table.Collection(s.NS)
	if c == nil {
		return collectionGone(s.NS)
	}
	field, value := s.settingWanted()
	still := Fact{Kind: FactCollection, NS: s.NS, Want: map[string]string{field: value}}
	if now := d.differences(still); len(now) > 0 {
		clause := "the setting was changed since"
		if s.Op == OpDefragment {
			clause = "the defragmentation is over; chunks that it merged stay merged"
			if !s.On {
				clause = "the collection is being defragmented again"
			}
		}
		return undoConflict(clause, now...)
	}
	next := Step{Op: s.Op, On: !s.On}
	switch s.Op {
	case OpChunkSize:
		size, ok := s.previousChunkSize()
		if !ok {
			return undoConflict("the previous chunk size was not a whole number of MB, which no command can set")
		}
		next.On, next.Size = false, size
	case OpMigrations:
		if !next.On {
			d.leastRisk = High
			d.warnOfBlocking(c)
		}
	case OpDefragment:
		switch {
		case next.On && c.Defragmenting:
			return undoConflict("the defragmentation is still in its last phase; start it again when it is over")
		case next.On:
			d.checkDefragmentable(c)
		case c.Ending():
			return undoConflict("the defragmentation is in its last phase and ends by itself")
		}
	}
	d.step(d.setting(c, next))
	return nil
}

// previousChunkSize is the chunk size in MB that a step of OpChunkSize replaces; false if
// no command can set it.
func (s Step) previousChunkSize() (mb int, ok bool) {
	for _, f := range s.Needs {
		if text, there := f.Want["chunkSize"]; there {
			return chunkMB(text)
		}
	}
	return 0, false
}

const defaultChunkSize = "default"

// chunkSizeText is the chunk size of a collection as a field of FactCollection.
func chunkSizeText(bytes int64) string {
	switch {
	case bytes == 0:
		return defaultChunkSize
	case bytes%(1<<20) == 0:
		return strconv.FormatInt(bytes>>20, 10) + " MiB"
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}

// chunkMB reads chunkSizeText; false if it is not a whole number of MB from 1 to 1024.
func chunkMB(text string) (mb int, ok bool) {
	if text == defaultChunkSize {
		return 0, true
	}
	n, mib := strings.CutSuffix(text, " MiB")
	mb, err := strconv.Atoi(n)
	return mb, mib && err == nil && mb > 0 && mb <= maxChunkMB
}

// checkFollowing says whether the balancer will begin to move chunks of the collection
// when it is described as changed.
func (d *draftBuilder) checkFollowing(c *topology.Collection, changed topology.Meta) {
	after := *c
	after.Meta = changed
	p := balance.PlanOf(balance.Situation{Table: d.s.Table}, &after)
	b, ns := d.s.Table.Balancer, message.Namespace("ns", c.NS)
	src := d.fromRule()
	switch n := len(p.Moves()); {
	case !d.s.Release.Known():
	case n == 0 && p.Measured():
		d.pass("following", src, message.New("following.none", "By its rules the balancer then has no chunks of {ns} to move.", ns))
	case n == 0:
		d.warn("following", src, message.New("following.unknown",
			"It is not known whether the balancer then moves chunks of {ns}, because sizes are not known.", ns))
	case !b.Known || !b.Moves() || changed.NoBalance || changed.MigrationsBlocked:
		d.warn("following", src, message.New("following.later",
			"The balancer will have chunks of {ns} to move as soon as it may move them.", ns))
	default:
		d.leastRisk = Medium
		d.warn("following", src, message.New("following.moves",
			"The balancer will then begin to move chunks of {ns}. This copies data between shards.", ns))
	}
}
