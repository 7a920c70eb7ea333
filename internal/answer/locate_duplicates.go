package answer

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// DuplicateChecker is the background check for ids on more than one shard.
type DuplicateChecker interface {
	Start(resume bool, from map[topology.Namespace]bson.ObjectID) error
	Stop() error
	Report() placement.CheckReport
}

func DuplicatesOf(v View, r placement.CheckReport) api.DuplicateCheck {
	out := api.DuplicateCheck{
		State: string(r.State), Started: instant(r.Started), Ended: instant(r.Ended), Found: r.FoundCount, Problem: r.Problem,
		Collections: []api.DuplicateCollection{}, Items: []api.DuplicateID{},
	}
	if r.Left >= 0 {
		left := int64(r.Left.Round(time.Second) / time.Second)
		out.LeftSeconds = &left
	}
	for _, c := range r.Collections {
		next := ""
		if !c.Next.IsZero() {
			next = c.Next.Hex()
		}
		out.Collections = append(out.Collections, api.DuplicateCollection{NS: string(c.NS), Read: c.Read, Total: FigureOf(c.Total), Next: next, Done: c.Done})
	}
	for _, id := range r.Found {
		one := api.DuplicateID{NS: string(id.NS), ID: id.ID.Hex(), At: id.At.UTC(), Rows: []api.DuplicateRow{}}
		for _, row := range id.Rows {
			p, _ := v.Dir.In(id.NS.Database(), row.Project)
			one.Rows = append(one.Rows, api.DuplicateRow{Shard: row.Shard, Project: row.Project.Hex(), ProjectName: p.Name})
		}
		out.Items = append(out.Items, one)
	}
	return out
}

// instant is null for a time that has not come.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
