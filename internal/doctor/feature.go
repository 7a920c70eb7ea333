package doctor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/profile"
)

// Feature is something that shardboard does, with the privileges that all of it needs.
type Feature struct {
	Code   string
	DB     string // database; "" = the cluster
	Change bool   // it changes the cluster; irrelevant for viewing
	Needs  []Privilege
}

// Data is a database with projects and documents.
type Data struct {
	DB     string
	Layout profile.Layout
}

// Release is a server's version: major, minor, patch.
type Release [3]int

// ParseRelease parses "8.0.12-4"; parts that are not numbers count as 0.
func ParseRelease(version string) (r Release) {
	version, _, _ = strings.Cut(version, "-")
	for i, part := range strings.SplitN(version, ".", 3) {
		r[i], _ = strconv.Atoi(part)
	}
	return r
}

func (r Release) atLeast(major, minor, patch int) bool {
	for i, n := range [3]int{major, minor, patch} {
		if r[i] != n {
			return r[i] > n
		}
	}
	return true
}

// Features returns all features of a release with the privileges they need for these databases.
// docs/roles.md grants exactly these.
func Features(r Release, p *profile.Profile, data []Data) []Feature {
	config := func(actions string, collections ...string) (out []Privilege) {
		for _, c := range collections {
			out = append(out, on("config", c, strings.Fields(actions)...)...)
		}
		return out
	}
	features := []Feature{
		{Code: "routing", Needs: config("find", "collections", "chunks", "shards", "databases")},
		{Code: "identity", Needs: config("find", "version")},
		{Code: "zones", Needs: config("find", "tags")},
		{Code: "balancer", Needs: config("find", "settings")},
		{Code: "routers", Needs: config("find", "mongos")},
		{Code: "activity", Needs: config("find", "changelog")},
		{Code: "rounds", Needs: config("find", "actionlog")},
		{Code: "inflight", Needs: config("find", "migrations")},
		{Code: "members", Needs: onCluster("connPoolStats")},
	}
	if r.atLeast(6, 0, 3) {
		features = append(features, Feature{Code: "distribution", Needs: onCluster("shardedDataDistribution")})
	}
	if r.atLeast(7, 0, 0) {
		features = append(features, Feature{Code: "owners", Needs: config("find", "placementHistory")})
	}
	for _, d := range data {
		features = append(features, reading(p, d)...)
	}
	features = append(features,
		Feature{Code: "operations", Change: true, Needs: append(onCluster("inprog"), config("find", "migrations")...)},
	)
	changes := operation.Features(balance.Release(r))
	for _, f := range changes {
		if needs := needsOf(f, ""); len(needs) > 0 && r.atLeast(f.Since[0], f.Since[1], f.Since[2]) {
			features = append(features, Feature{Code: f.Code, Change: true, Needs: needs})
		}
	}
	for _, d := range data {
		features = append(features, changing(r, changes, d.DB)...)
	}
	return features
}

// reading returns the features that read one database.
func reading(p *profile.Profile, d Data) []Feature {
	var located, placed, checked, counted, measured []Privilege
	for _, c := range d.Layout.Collections {
		if c.Scope == profile.ScopeCluster {
			continue
		}
		find := on(d.DB, c.Name, "find")
		placed = append(placed, find...)
		if c.Kind != "" {
			located = append(located, find...)
		}
		if c.Appended || c.WrittenAt != "" {
			counted = append(counted, find...)
		}
		if c.ProjectField != "" {
			measured = append(measured, find...)
		}
		if c.Kind != "" && c.Scope == profile.ScopeProject {
			checked = append(checked, find...)
		}
	}
	names, sizes := on(d.DB, cmp.Or(p.Names.Collection, p.Keys.Collection), "find"), on(d.DB, "", "collStats")
	return []Feature{
		{Code: "unsharded", DB: d.DB, Needs: on(d.DB, "", "listCollections")},
		{Code: "sizes", DB: d.DB, Needs: sizes},
		{Code: "disks", DB: d.DB, Needs: on(d.DB, "", "dbStats")},
		{Code: "projects", DB: d.DB, Needs: names},
		{Code: "locate", DB: d.DB, Needs: located},
		{Code: "proof", DB: d.DB, Needs: placed},
		{Code: "chunkSizes", DB: d.DB, Needs: placed},
		{Code: "duplicates", DB: d.DB, Needs: checked},
		{Code: "heat", DB: d.DB, Needs: slices.Concat(counted, sizes)},
		{Code: "survey", DB: d.DB, Needs: slices.Concat(names, measured, sizes)},
	}
}

// changing returns the features that change the distribution of one database.
func changing(r Release, changes []operation.Feature, db string) (out []Feature) {
	for _, f := range changes {
		needs := needsOf(f, db)
		if len(needs) == 0 || !r.atLeast(f.Since[0], f.Since[1], f.Since[2]) {
			continue
		}
		if f.Code == "refine" {
			needs = append(needs, on(db, "", "listIndexes")...)
		}
		out = append(out, Feature{Code: f.Code, DB: db, Change: true, Needs: needs})
		if f.Code == "collectionBalancing" {
			out = append(out, Feature{Code: "compliance", DB: db, Change: true, Needs: on(db, "", "enableSharding")})
		}
	}
	return out
}

// needsOf are the privileges of a feature about a database, or about the cluster if db is "".
func needsOf(f operation.Feature, db string) (out []Privilege) {
	if f.PerDB != (db != "") {
		return nil
	}
	for _, g := range f.Grants {
		coll, config := strings.CutPrefix(g.On, "config.")
		switch {
		case g.On == operation.OnCluster:
			for _, a := range g.Actions {
				out = append(out, onCluster(a)...)
			}
		case config:
			out = append(out, on("config", coll, g.Actions...)...)
		default:
			out = append(out, on(db, "", g.Actions...)...)
		}
	}
	return out
}
