package data

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// DuplicateChecker is the background check for ids on more than one shard.
type DuplicateChecker interface {
	// Start begins the check, or goes on where it was stopped or failed. from has the ids to begin with, by collection.
	// fault.Conflict while it runs.
	Start(resume bool, from map[topology.Namespace]bson.RawValue) error
	// Stop ends the check after the batch under way; fault.Conflict when it does not run.
	Stop() error
	// Report is the state now.
	Report() placement.CheckReport
}

// Duplicates says how far the check for duplicate ids is and what it found. checker
// is nil on a server that has none.
func Duplicates(v answer.View, checker DuplicateChecker) api.DuplicateCheck {
	r := placement.CheckReport{State: placement.CheckIdle, Left: -1}
	if checker != nil {
		r = checker.Report()
	}
	out := api.DuplicateCheck{
		State: string(r.State), Started: answer.TimeOrNull(r.Started), Ended: answer.TimeOrNull(r.Ended), Found: r.FoundCount, Problem: r.Problem,
		Collections: answer.Map(r.Collections, duplicateCollection), Items: []api.DuplicateID{},
	}
	if r.Left >= 0 {
		left := int64(r.Left.Round(time.Second) / time.Second)
		out.LeftSeconds = &left
	}
	for _, id := range r.Found {
		one := api.DuplicateID{NS: string(id.NS), ID: id.Text(), At: id.At.UTC(), Rows: []api.DuplicateRow{}, Shards: id.Shards()}
		for _, row := range id.Rows {
			one.Rows = append(one.Rows, api.DuplicateRow{Shard: row.Shard, Project: row.Project.Hex(),
				ProjectName: v.ProjectName(id.NS.Database(), row.Project)})
		}
		out.Items = append(out.Items, one)
	}
	return out
}

func duplicateCollection(c placement.CheckProgress) api.DuplicateCollection {
	out := api.DuplicateCollection{NS: string(c.NS), Read: c.Read, Total: answer.FigureOf(c.Total), Done: c.Done, Share: -1}
	switch id, isObjectID := c.Next.ObjectIDOK(); {
	case isObjectID:
		out.Next = id.Hex()
	case !c.Next.IsZero():
		out.Next = shardkey.ValueExtJSON(c.Next)
	}
	switch {
	case c.Done:
		out.Share = 1
	case c.Read > 0 && c.Total.Known && c.Total.Value > 0:
		// The statistics may lag behind the rows that there are.
		out.Share = min(0.99, answer.Share(c.Read, c.Total.Value))
	}
	return out
}

// KnownDuplicates are the duplicate ids that the check has found. Of the past none
// are known.
func KnownDuplicates(v answer.View, checker DuplicateChecker) []placement.SharedID {
	if checker == nil || v.Past != nil {
		return nil
	}
	return checker.Report().Found
}
