package propose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/natural"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// lead is a field that shard keys of a database begin with.
type lead struct {
	db, field string
	colls     []*topology.Collection
	of        int // sharded collections of the database
	chunks    int
}

// leads are the fields that may be the tenant, the likeliest first, and why some are not.
func leads(t *topology.Table, o Options) (out []lead, why []string) {
	of := map[string]int{}
	byField := map[[2]string]*lead{}
	left := map[string]bool{}
	leave := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); !left[s] {
			left[s] = true
			why = append(why, s)
		}
	}
	fits := profile.Yorkie().Match(t)
	sharded := 0
	for _, c := range t.Collections {
		db, coll := c.NS.Database(), c.NS.Collection()
		if c.Unsplittable || c.Temporary || topology.IsServerDatabase(db) || c.Key.Len() == 0 {
			continue
		}
		sharded++
		if o.Database != "" && db != o.Database {
			continue
		}
		if o.Database == "" && slices.Contains(fits, db) {
			leave("The database %s fits the built-in profile yorkie, which needs no file.", name(db))
			continue
		}
		of[db]++
		field := c.Key.Fields()[0].Name
		switch problem := profile.CheckField(field); {
		case o.Tenant != "" && field != o.Tenant:
			continue
		case profile.CheckCollection(coll) != "":
			leave("%s is left out: a profile cannot name this collection.", name(string(c.NS)))
			continue
		case field == "_id":
			continue
		case problem != "":
			leave("The key of %s begins with %s, which a profile cannot name: %s.", name(string(c.NS)), name(field), problem)
			continue
		}
		at := [2]string{db, field}
		if byField[at] == nil {
			byField[at] = &lead{db: db, field: field}
		}
		byField[at].colls = append(byField[at].colls, c)
		byField[at].chunks += c.Chunks.Len()
	}
	for _, l := range byField {
		l.of = of[l.db]
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b lead) int {
		return cmp.Or(cmp.Compare(len(b.colls), len(a.colls)), cmp.Compare(affix(b.field), affix(a.field)), cmp.Compare(b.chunks, a.chunks),
			natural.Compare(a.db, b.db), natural.Compare(a.field, b.field))
	})
	if len(out) > 0 {
		return out, why
	}
	switch {
	case sharded == 0:
		why = append(why, "No collection is sharded, so there is no shard key that could name a tenant.")
	case o.Database != "" && of[o.Database] == 0:
		why = append(why, fmt.Sprintf("The database %s has no sharded collection.", name(o.Database)))
	case o.Tenant != "":
		why = append(why, fmt.Sprintf("No shard key begins with %s.", name(o.Tenant)))
	case len(why) == 0:
		why = append(why, "Every shard key begins with _id, which tells each row from all others and groups none.")
	}
	return nil, why
}

// affix is 1 for a field that is named like an id: among equals it is likelier to be a tenant than a date.
func affix(field string) int {
	if base(field) != inner(strings.ToLower(field)) {
		return 1
	}
	return 0
}

// inner is the last part of a path.
func inner(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// base is the thing that a field is the id of, in lower case: tenant of tenantId, tenant_id, tenantID, TenantRef,
// tenant.id and meta.tenantId.
func base(field string) string {
	ends := []string{"_id", "id", "_ref", "ref", "_key", "key", "_code", "code", "_uuid", "uuid", "_no",
		"_slug", "slug", "_name", "name"}
	lower := inner(strings.ToLower(field))
	if slices.Contains(ends, lower) && len(lower) < len(field) {
		return base(field[:len(field)-len(lower)-1])
	}
	for _, end := range ends {
		if cut, ok := strings.CutSuffix(lower, end); ok && len(cut) > 1 {
			return strings.TrimRight(cut, "_-")
		}
	}
	return lower
}

// singular is the name of one row of a collection.
func singular(s string) string {
	lower := strings.ToLower(s)
	switch {
	case strings.HasSuffix(lower, "ies") && len(s) > 4:
		return s[:len(s)-3] + "y"
	case strings.HasSuffix(lower, "sses"), strings.HasSuffix(lower, "xes"), strings.HasSuffix(lower, "ches"), strings.HasSuffix(lower, "shes"):
		return s[:len(s)-2]
	case strings.HasSuffix(lower, "ss"), strings.HasSuffix(lower, "us"), strings.HasSuffix(lower, "is"):
		return s
	case strings.HasSuffix(lower, "s") && len(s) > 2:
		return s[:len(s)-1]
	}
	return s
}

// affinity is how much a collection is named like what a field is the id of: 2 for tenants and tenantId, 1 for
// part of it, 0 for none.
func affinity(coll, field string) int {
	of, it := base(field), strings.ToLower(singular(coll))
	flat := strings.NewReplacer("_", "", "-", "", ".", "").Replace
	switch {
	case flat(it) == flat(of), flat(strings.ToLower(coll)) == flat(of):
		return 2
	case len(of) > 2 && strings.Contains(flat(it), flat(of)), len(it) > 3 && strings.Contains(flat(of), flat(it)):
		return 1
	}
	return 0
}
