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

// setting completes a step that changes a setting of a collection: the collection must
// still be the same, with the value that it has now.
func (d *draftBuilder) setting(c *topology.Collection, s Step) Step {
	s.NS = c.NS
	field, value := s.row().sets(s)
	need := sameCollection(c)
	need.Want[field] = collectionFields(c.Meta)[field]
	s.Needs = []Fact{need}
	s.Proof = []Fact{{Kind: FactCollection, NS: c.NS, Want: map[string]string{field: value}}}
	return s
}

// undoSetting restores the setting that a step changed, with the command of next. If it has been changed since, it is
// left alone, for the reason that the clause gives. check adds what there is to say of the collection.
func (d *draftBuilder) undoSetting(s, next Step, clause string, check func(*topology.Collection) error) error {
	c := d.s.Table.Collection(s.NS)
	if c == nil {
		return collectionGone(s.NS)
	}
	field, value := s.row().sets(s)
	still := Fact{Kind: FactCollection, NS: s.NS, Want: map[string]string{field: value}}
	if now := d.differences(still); len(now) > 0 {
		return undoConflict(clause, now...)
	}
	if err := check(c); err != nil {
		return err
	}
	next.Op = s.Op
	d.step(d.setting(c, next))
	return nil
}

const settingChanged = "the setting was changed since"

// undoSwitch turns a setting back.
func (d *draftBuilder) undoSwitch(s Step) error {
	return d.undoSetting(s, Step{On: !s.On}, settingChanged, func(*topology.Collection) error { return nil })
}

func (d *draftBuilder) undoMigrations(s Step) error {
	return d.undoSetting(s, Step{On: !s.On}, settingChanged, func(c *topology.Collection) error {
		if s.On {
			d.leastRisk = High
			d.add(d.warnOfBlocking(c))
		}
		return nil
	})
}

func (d *draftBuilder) undoChunkSize(s Step) error {
	size, ok := s.previousChunkSize()
	return d.undoSetting(s, Step{Size: size}, settingChanged, func(*topology.Collection) error {
		if !ok {
			return undoConflict("the previous chunk size was not a whole number of MB, which no command can set")
		}
		return nil
	})
}

func (d *draftBuilder) undoDefragment(s Step) error {
	clause := "the collection is being defragmented again"
	if s.On {
		clause = "the defragmentation is over; chunks that it merged stay merged"
	}
	return d.undoSetting(s, Step{On: !s.On}, clause, func(c *topology.Collection) error {
		switch {
		case !s.On && c.Defragmenting:
			return undoConflict("the defragmentation is still in its last phase; start it again when it is over")
		case !s.On:
			d.add(d.checkDefragmentable(c))
		case c.Ending():
			return undoConflict("the defragmentation is in its last phase and ends by itself")
		}
		return nil
	})
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
func (d *draftBuilder) checkFollowing(c *topology.Collection, changed topology.Meta) (out findings) {
	after := *c
	after.Meta = changed
	p := balance.PlanOf(balance.Situation{Table: d.s.Table}, &after)
	b, ns := d.s.Table.Balancer, message.Namespace("ns", c.NS)
	src := d.fromRule()
	switch n := len(p.Moves()); {
	case !d.s.Release.Known():
	case n == 0 && p.Measured():
		out.pass("following", src, message.New("following.none", "By its rules the balancer then has no chunks of {ns} to move.", ns))
	case n == 0:
		out.warn("following", src, message.New("following.unknown",
			"It is not known whether the balancer then moves chunks of {ns}, because sizes are not known.", ns))
	case !b.Known || !b.Moves() || changed.NoBalance || changed.MigrationsBlocked:
		out.warn("following", src, message.New("following.later",
			"The balancer will have chunks of {ns} to move as soon as it may move them.", ns))
	default:
		out.leastRisk = Medium
		out.warn("following", src, message.New("following.moves",
			"The balancer will then begin to move chunks of {ns}. This copies data between shards.", ns))
	}
	return out
}
