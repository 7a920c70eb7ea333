package engine

import (
	"cmp"
	"strconv"

	"shardboard/internal/actions"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Text says how the number of rows changed, or why they were not counted, and how
// many are written meanwhile.
func (c RowCount) Text() message.Message {
	n, both := c.Difference()
	facts := []message.Fact{message.Namespace("ns", c.NS), message.Count("before", c.Before.Value), message.Count("after", c.After.Value),
		message.Count("most", actions.MostCounted)}
	if !both {
		return message.New("rows.not", c.whyNot(), append(facts, message.Text("reason", c.notCounted().Reason))...)
	}
	pattern := "{ns} has {before} " + c.rowsBefore() + ", as before."
	if n != 0 {
		pattern = "{ns} had {before} " + c.rowsBefore() + " and has {after} ({difference}) after {took}. " +
			"A difference alone is not a failure: applications write rows meanwhile."
		sign := ""
		if n > 0 {
			sign = "+"
		}
		facts = append(facts, message.Words("difference", sign+format.Count(n)),
			message.Words("took", decimal(c.Took().Seconds())+" s"))
	}
	if !c.Writes.Known {
		return message.New("rows", pattern+" How many rows are written a second is not known.", facts...)
	}
	return message.New(
		"rows",
		pattern+" About {rate} rows a second are written.",
		append(facts, message.Words("rate", decimal(c.Writes.PerSecond)))...)
}

// rowsBefore is the noun for the count before the run.
func (c RowCount) rowsBefore() string {
	if c.Project == "" {
		return message.Plural(c.Before.Value, "row", "rows") + " in the moved range"
	}
	return message.Plural(c.Before.Value, "row", "rows") + " of the project"
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

func (c RowCount) whyNot() string {
	if c.Before.Known && c.After.Reason == rowsPending {
		return "{ns} had {before} " + c.rowsBefore() + " before the first command. Rows are counted again at the end."
	}
	if c.notCounted().Reason == rowsNothingSent {
		return "{ns} had {before} " + c.rowsBefore() + ". Nothing was sent, so rows were not counted again."
	}
	return "{ns}: " + cmp.Or(rowsNotCounted[c.notCounted().Reason], "rows not counted ({reason})") + "."
}

var rowsNotCounted = map[string]string{
	rowsPending:     "rows not counted yet",
	rowsTooMany:     "not counted: more than {most} rows",
	rowsTooSlow:     "not counted: it took too long",
	"notPermitted":  "not counted: the cluster does not permit it",
	"unreachable":   "not counted: the cluster did not answer",
	rowsInterrupted: "not counted: the run was stopped, or the program ended",
	rowsNoFilter:    "rows of the moved range are not known: they cannot be counted by its bounds",
	rowsManyRanges:  "rows of the other moved ranges are not known: only the first ranges of a plan are counted",
}

// notCounted is the figure whose reason explains why there is no difference.
func (c RowCount) notCounted() topology.Figure {
	if !c.Before.Known {
		return c.Before
	}
	return c.After
}
