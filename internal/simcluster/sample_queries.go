package simcluster

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/pipeline"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

// sampleQueries hands the queries of a command to the query analyzer, if it is on for the collection (7.0).
func (c *Cluster) sampleQueries(r *engine.Request) {
	if !c.version.atLeast(7, 0, 0) {
		return
	}
	name := r.Command()
	switch name {
	case "find", "aggregate", "count", "distinct", "update", "delete", "findAndModify":
	default:
		return
	}
	coll, _ := r.Lookup(r.Name).StringValueOK()
	ns := r.DB + "." + coll
	if coll == "" || !c.catalog.Samples(ns) {
		return
	}
	sample := func(filter bson.RawValue, many bool, change bson.RawValue) {
		env, err := c.environment(r)
		if err != nil {
			return
		}
		if f, err := query.Parse(filter.Value, env); err == nil {
			c.catalog.SampleQuery(ns, catalog.SampledQuery{Command: name, Filter: f, Many: many, Changes: changedFields(change)})
		}
	}
	none := bson.RawValue{}
	switch name {
	case "find":
		sample(r.Lookup("filter"), false, none)
	case "count", "distinct":
		sample(r.Lookup("query"), false, none)
	case "findAndModify":
		sample(r.Lookup("query"), false, r.Lookup("update"))
	case "aggregate":
		if stages, err := pipeline.List(r.Lookup("pipeline")); err == nil {
			filter, _ := pipeline.LeadingMatch(stages)
			sample(value.Doc(filter), false, none)
		}
	case "update":
		for s := range value.Items(r.Lookup("updates")) {
			sample(value.Field(s.Value, "q"), truthy(value.Field(s.Value, "multi")), value.Field(s.Value, "u"))
		}
	case "delete":
		for s := range value.Items(r.Lookup("deletes")) {
			n, _ := wholeNumber(value.Field(s.Value, "limit"))
			sample(value.Field(s.Value, "q"), n == 0, none)
		}
	}
}

// changedFields are the names of the fields that an update sets, removes or renames, with commas around them.
func changedFields(change bson.RawValue) string {
	doc, ok := change.DocumentOK()
	if !ok {
		return ""
	}
	names := ","
	for e := value.Read(doc); e.Next(); {
		if !strings.HasPrefix(string(e.Key), "$") {
			names += string(e.Key) + ","
			continue
		}
		if fields, ok := e.Value.DocumentOK(); ok {
			for f := value.Read(fields); f.Next(); {
				names += string(f.Key) + ","
			}
		}
	}
	return names
}
