package engine

import (
	"cmp"
	"context"
	"slices"

	"shardboard/internal/message"
)

// GroupRows compares the rows that the runs of a group counted before their first command, where
// the donor had them, and after their last proof, where the recipient has them.
type GroupRows struct {
	Same, Different, Unknown int        // counts
	Counts                   []RowCount // up to groupRowsKept: the different ones first, then those that are not known
}

// groupRowsKept is how many counts of a group a batch keeps. A batch is saved after every item, so
// its record has to stay small; the counts of each item stand in its own run.
const groupRowsKept = 20

// compareRows puts the counts of the items of a group together.
func compareRows(counts []RowCount) (out GroupRows) {
	order := func(c RowCount) int {
		switch n, both := c.Difference(); {
		case !both:
			return 1
		case n != 0:
			return 0
		}
		return 2
	}
	for _, c := range counts {
		switch order(c) {
		case 0:
			out.Different++
		case 1:
			out.Unknown++
		default:
			out.Same++
		}
	}
	out.Counts = slices.Clone(counts)
	slices.SortStableFunc(out.Counts, func(a, b RowCount) int { return cmp.Compare(order(a), order(b)) })
	out.Counts = slices.Clip(out.Counts[:min(len(out.Counts), groupRowsKept)])
	return out
}

// Text sums a comparison up; empty if nothing was counted.
func (g GroupRows) Text() message.Message {
	n := g.Same + g.Different + g.Unknown
	if n == 0 {
		return message.Message{}
	}
	return message.New("rows.group", message.Plural(n, "{n} count of rows before and after: ", "{n} counts of rows before and after: ")+
		"{same} the same, {different} different, {unknown} not known.", message.Count("n", n), message.Count("same", g.Same),
		message.Count("different", g.Different), message.Count("unknown", g.Unknown))
}

// groupRows are the rows that the runs of a group counted.
func (b *batchRun) groupRows(group int) ([]RowCount, error) {
	ctx, cancel := context.WithTimeout(b.x.ctx, readTimeout)
	defer cancel()
	var out []RowCount
	for _, item := range b.items {
		if item.Group != group || item.run == "" {
			continue
		}
		run, err := b.x.e.RunByID(ctx, item.run)
		if err != nil {
			return out, err
		}
		for _, c := range run.Rows {
			c.Item = item.Number
			out = append(out, c)
		}
	}
	return out, nil
}

// Fewer rows after an item are a finding if more than a share of them are missing, and lostLeast or
// all: applications delete rows too. The share is higher for a range, of which no write rate is known.
const (
	lostOfProject = 0.01
	lostOfRange   = 0.1
	lostLeast     = 10
)

// missingRows finds projects and ranges that have far fewer rows than before their item. A
// migration loses none, so something else deletes them, or something is wrong.
func missingRows(rows []RowCount) (out []message.Message) {
	for _, c := range rows {
		n, both := c.Difference()
		if !both || n >= 0 || c.Writes.Known && c.Writes.PerSecond > 0 {
			continue
		}
		share := lostOfProject
		if c.Project == "" {
			share = lostOfRange
		}
		if float64(-n) <= share*float64(c.Before.Value) || -n < lostLeast && c.After.Value > 0 {
			continue
		}
		facts := []message.Fact{message.Namespace("ns", c.NS), message.Count("now", c.After.Value), message.Count("before", c.Before.Value),
			message.Count("item", c.Item)}
		if c.Project == "" {
			out = append(out, message.New("health.fewerRangeRows", "Rows of the range of {ns} that was moved: {before} before item {item}, "+
				"{now} after it. Nothing is known to delete them.", facts...))
			continue
		}
		out = append(out, message.New("health.fewerRows", "Rows of the project {project} in {ns}: {before} before item {item}, {now} after it. "+
			"Nothing is known to delete them.", append(facts, message.Project("project", c.Project, ""))...))
	}
	return out
}
