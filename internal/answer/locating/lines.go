package locating

import (
	"context"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/placement"
)

// LocateWorkers is how many lines of one request are looked up at a time: enough
// to hide a round trip, few enough not to crowd the mongos.
const LocateWorkers = 8

// LocateLines drops blank lines and refuses lines that cannot be queries.
func LocateLines(lines []string) ([]string, error) {
	kept := lines[:0]
	for i, line := range lines {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if _, err := param.Checked("Line "+strconv.Itoa(i+1), line); err != nil {
			return nil, err
		}
		kept = append(kept, line)
	}
	if len(kept) == 0 || len(kept) > api.MaxLocateLines {
		return nil, fault.New(fault.Invalid, "Send 1 to %d lines; this request has %d.", api.MaxLocateLines, len(kept))
	}
	return kept, nil
}

// EachLine calls do for each line, LocateWorkers at a time, and waits for all.
func EachLine(lines []string, do func(i int, text string)) {
	var g errgroup.Group
	g.SetLimit(LocateWorkers)
	for i, text := range lines {
		g.Go(func() error {
			do(i, text)
			return nil
		})
	}
	_ = g.Wait()
}

// LocateLine answers line n of many, from 1. The caller adds the problem of an error.
func LocateLine(ctx context.Context, v answer.View, l Locator, n int, text string) (api.LocateLine, error) {
	found, err := Find(ctx, l, placement.Query{Text: text})
	a := Locate(ctx, v, nil, found, LocateExtras{})
	line := api.LocateLine{Line: n, Query: text, Items: a.Items, Input: a.Input, Cost: a.Cost, Anatomy: a.Anatomy}
	if silent(found) {
		line.Query = ""
	}
	if err != nil {
		line.Items = []api.LocateItem{}
	}
	return line, err
}

// LineSummary says what many lines led to and cost together.
func LineSummary(lines []api.LocateLine) message.Message {
	found, cost := 0, api.LocateCost{}
	for _, l := range lines {
		cost.Targeted, cost.Broadcast = cost.Targeted+l.Cost.Targeted, cost.Broadcast+l.Cost.Broadcast
		if l.Problem == nil {
			found++
		}
	}
	return message.New("locate.lines",
		"Found {found} of {lines} "+message.Plural(len(lines), "line", "lines")+". "+costPattern(cost),
		append(costFacts(cost), message.Count("found", found), message.Count("lines", len(lines)))...)
}
