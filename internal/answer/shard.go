package answer

import (
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// projectsListed is how many projects a shard's page lists; its CSV has all.
const ProjectsListed = 50

// foldContents leaves the server's own collections out of what is on a shard, as
// its sums do.
func FoldContents(all []placement.CollectionOn, internal bool) (listed []placement.CollectionOn, hidden int) {
	for _, c := range all {
		if !internal && topology.IsInternal(c.NS) {
			hidden++
			continue
		}
		listed = append(listed, c)
	}
	return listed, hidden
}

func OrUnknown(s string) string {
	if s == "" {
		return format.Unknown
	}
	return s
}

func PrimaryOf(t *topology.Table, shard string) string {
	var dbs []string
	for _, db := range t.Databases {
		if db.Primary == shard {
			dbs = append(dbs, db.Name)
		}
	}
	return strings.Join(dbs, ", ")
}

// sickAnswer tells who is hit: tenants whose own rows are here, and those
// collections that every tenant shares.
func SickAnswer(v View, c placement.Contents) string {
	if !v.Dir.Loaded() {
		return words.T("shard.answer.loading")
	}
	all := int64(len(v.Dir.All()))
	whole := int64(0)
	for _, p := range c.Projects {
		if p.Whole {
			whole++
		}
	}
	some := words.T("shard.answer.nobody")
	if whole > 0 {
		some = format.Count(whole)
	}
	out := words.T("shard.answer", "shard", c.Shard, "n", format.Count(int64(len(c.Projects))), "all", format.Count(all), "whole", some)
	if len(c.ByDocument) == 0 {
		return out
	}
	names := make([]string, len(c.ByDocument))
	var most float64
	for i, b := range c.ByDocument {
		names[i] = b.NS.Collection()
		most = max(most, b.Share)
	}
	return out + " " + words.T("shard.answer.bydoc", "names", JoinWords(names), "share", format.Share(most))
}
