package engine

import (
	"context"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/message"
)

// otherRecipients is how often a run sends a move to another shard than planned, which counts as an adaptation.
const otherRecipients = maxAdaptations / 2

// fullDisk is the used share of its disk from which a shard is not taken in the place of another.
const fullDisk = 0.9

// takeOther lets a step whose recipient is blocked go to one of the other shards that were confirmed for it. taken is
// false when the step waits instead; ok is false when the run or the process has ended.
func (x *execution) takeOther(i int) (taken, ok bool) {
	run := x.current()
	s := run.Steps[i]
	if s.Backoff == nil || len(s.Others) == 0 || !run.canAdapt() || len(run.Adaptations) >= otherRecipients {
		return false, true
	}
	migrations := x.migrationsNow()
	lasting := s.Backoff.Obstacle == actions.ObstacleRecipient
	switch s.Backoff.Obstacle {
	case operation.ObstacleOrphans, actions.ObstacleRecipient:
	case operation.ObstacleMigration: // another recipient helps only if the donor is free
		if !takesPart(migrations, s.Shard) || slices.ContainsFunc(shardClaims(s.Step), func(c claim) bool {
			return c != named("shard "+s.Shard) && slices.ContainsFunc(migrations, func(m balance.Migration) bool {
				return c == named("shard "+m.From) || c == named("shard "+m.To)
			})
		}) {
			return false, true
		}
	default:
		return false, true
	}
	to, found := x.freeRecipient(s, migrations)
	if !found {
		return false, true
	}
	steps := planSteps(run.Steps[i:firstRestore(run.Steps)])
	for n, o := range steps { // if what blocks the recipient lasts, of all steps
		if (n == 0 || lasting) && o.Shard == s.Shard && slices.Contains(o.Others, to) {
			steps[n] = o.To(to, lasting)
		}
	}
	if _, _, err := x.draftRemaining(run, steps); err != nil { // it waits, rather than to end because of it
		return false, x.ctx.Err() == nil
	}
	because := []operation.Difference{{Field: recipientField, Want: s.Shard, Got: to}}
	return true, x.replanAs(i, steps, nil, because, message.New("step.otherRecipient",
		"Not sent: {shard} cannot take this range now. It goes to {to} instead, as the plan allows.",
		message.Shard("shard", s.Shard), message.Shard("to", to)))
}

// recipientField is the field of a difference which says that a move goes to another shard.
const recipientField = "recipient"

// freeRecipient is the first other recipient of a step that nothing is known to block.
func (x *execution) freeRecipient(s Step, migrations []balance.Migration) (string, bool) {
	t := x.e.opts.Tables.Table()
	for _, shard := range s.Others {
		on, disk, other := t.Shard(shard), t.DiskOf(shard), s
		other.Shard = shard
		if on == nil || on.Draining || disk.Known() && disk.Share() >= fullDisk || takesPart(migrations, shard) {
			continue
		}
		if _, pending := x.pendingCleanup(other); !pending {
			return shard, true
		}
	}
	return "", false
}

func takesPart(all []balance.Migration, shard string) bool {
	return slices.ContainsFunc(all, func(m balance.Migration) bool { return m.From == shard || m.To == shard })
}

// migrationsNow are the running migrations; none if they cannot be read: then the command shows what is in its way.
func (x *execution) migrationsNow() []balance.Migration {
	ctx, cancel := context.WithTimeout(x.ctx, readTimeout)
	defer cancel()
	all, err := x.e.opts.Reader.MigrationsNow(ctx)
	if err != nil {
		return nil
	}
	return all
}

// blockedRecipient is the wait of a step whose recipient is the reason why the server refused it: it is not tried with
// that one again, but waits until another recipient is free.
func (x *execution) blockedRecipient(s Step) *Backoff {
	at := x.e.now()
	until := at.Add(conflictLimit)
	return &Backoff{Obstacle: actions.ObstacleRecipient, Since: at, First: at, Tried: at, Next: until, Until: until, Pause: conflictLimit,
		What: message.New("obstacle.recipient", "{shard} could not take the range: {why}",
			message.Text("why", s.Brief),
			message.Text("obstacle", string(actions.ObstacleRecipient)), message.Shard("shard", s.Shard))}
}
