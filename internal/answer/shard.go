package answer

import (
	"fmt"
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
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
		return "The list of projects is not read yet, so which projects are affected is not known."
	}
	all := int64(len(v.Dir.All()))
	whole := int64(0)
	for _, p := range c.Projects {
		if p.Whole {
			whole++
		}
	}
	some := "none"
	if whole > 0 {
		some = format.Count(whole)
	}
	out := fmt.Sprintf("If %s goes down, %s of %s projects are affected in rows of their own; %s of them have all such rows here.", c.Shard, format.Count(int64(len(c.Projects))), format.Count(all), some)
	if len(c.ByDocument) == 0 {
		return out
	}
	names := make([]string, len(c.ByDocument))
	var most float64
	for i, b := range c.ByDocument {
		names[i] = b.NS.Collection()
		most = max(most, b.Share)
	}
	return out + " " + fmt.Sprintf("Every project can also be affected through %s, which are placed document by document (up to %s of the chunks are here).", JoinWords(names), format.Share(most))
}
