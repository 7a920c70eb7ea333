package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// setting completes a step that changes a setting of a collection: the collection must
// still be the same, with the value that it has now.
func (d *draftBuilder) setting(c *topology.Collection, s operation.Step) operation.Step {
	s.NS = c.NS
	field, value := s.SettingValue()
	need := sameCollection(c)
	need.Want[field] = operation.CollectionFields(c.Meta)[field]
	s.Needs = []operation.Fact{need}
	s.Proof = []operation.Fact{{Kind: operation.FactCollection, NS: c.NS, Want: map[string]string{field: value}}}
	return s
}

// undoSetting restores the setting that a step changed, with the command of next. If it has been changed since, it is
// left alone, for the reason that the clause gives. check adds what there is to say of the collection.
func (d *draftBuilder) undoSetting(s, next operation.Step, clause string, check func(*topology.Collection) error) error {
	c := d.s.Table.Collection(s.NS)
	if c == nil {
		return collectionGone(s.NS)
	}
	field, value := s.SettingValue()
	still := operation.Fact{Kind: operation.FactCollection, NS: s.NS, Want: map[string]string{field: value}}
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
func (d *draftBuilder) undoSwitch(s operation.Step) error {
	return d.undoSetting(s, operation.Step{On: !s.On}, settingChanged, func(*topology.Collection) error { return nil })
}

func (d *draftBuilder) undoMigrations(s operation.Step) error {
	return d.undoSetting(s, operation.Step{On: !s.On}, settingChanged, func(c *topology.Collection) error {
		if s.On {
			d.leastRisk = High
			d.add(d.warnOfBlocking(c))
		}
		return nil
	})
}

func (d *draftBuilder) undoChunkSize(s operation.Step) error {
	size, ok := s.PreviousChunkSize()
	return d.undoSetting(s, operation.Step{Size: size}, settingChanged, func(*topology.Collection) error {
		if !ok {
			return undoConflict("the previous chunk size was not a whole number of MB, which no command can set")
		}
		return nil
	})
}

func (d *draftBuilder) undoDefragment(s operation.Step) error {
	clause := "the collection is being defragmented again"
	if s.On {
		clause = "the defragmentation is over; chunks that it merged stay merged"
	}
	return d.undoSetting(s, operation.Step{On: !s.On}, clause, func(c *topology.Collection) error {
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
