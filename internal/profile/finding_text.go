package profile

import "fmt"

// Label is a finding in a word or two.
func (f Finding) Label() string {
	switch f.Code {
	case FindMissing:
		return "absent"
	case FindUnsharded:
		return "not sharded"
	case FindUnlisted:
		return "not sharded or absent"
	case FindDifferent:
		return "other key"
	case FindSharded:
		return "sharded"
	case FindDocumented:
		return "as released, not as documented"
	case FindOlder:
		return "of an older layout"
	case FindNewer:
		return "of a newer layout"
	case FindForeign:
		return "not of this schema"
	}
	return f.Code
}

// Means says what a finding means, and where it is known to come from.
func (f Finding) Means() string {
	if text := variantText(f.Variant); text != "" {
		return f.MeansFor(f.NS.Collection()) + " " + text
	}
	return f.MeansFor(f.NS.Collection())
}

// MeansFor says what a finding means of a collection, or of several with the same one.
func (f Finding) MeansFor(name string) string {
	switch f.Code {
	case FindMissing:
		return fmt.Sprintf("Not there: %s. No data is misplaced; what the application then creates by itself is not sharded.", name)
	case FindUnsharded:
		return fmt.Sprintf("%s should be sharded by %s and is not: all its rows are on the database's primary shard, "+
			"whatever the other shards have room for.", name, f.Want)
	case FindUnlisted:
		return fmt.Sprintf("%s should be sharded by %s and is not. Whether it exists is not known.", name, f.Want)
	case FindDifferent:
		if f.Fix.Code == FixBack { // "should be" would be wrong
			return fmt.Sprintf("%s is sharded by %s here and by %s in the layout that is compared with.", name, f.Have, f.Want)
		}
		return fmt.Sprintf("%s is sharded by %s and should be by %s. A changed rule never reshards a collection that is "+
			"there: this one keeps the key it was created with.", name, f.Have, f.Want)
	case FindSharded:
		return fmt.Sprintf("%s is sharded by %s; the layout leaves it on the primary shard. Queries without that key ask "+
			"every shard.", name, f.Have)
	case FindDocumented:
		return fmt.Sprintf("Documentation says %s, but no release's set-up shards %s: all its rows are on the database's "+
			"primary shard, here as everywhere.", f.Want, name)
	case FindOlder:
		return fmt.Sprintf("%s belongs to %s and earlier. Newer releases neither read nor write it; it only takes room.", name, f.Layout)
	case FindNewer:
		return fmt.Sprintf("%s belongs to %s, which is newer than the layout that is compared with.", name, f.Layout)
	case FindForeign:
		return fmt.Sprintf("%s is in no layout that is known. It is shown with the collections and otherwise left alone.", name)
	}
	return f.Code
}

// variantText names the cause of a key that some releases are known to leave.
func variantText(code string) string {
	switch code {
	case variantChartClients:
		return "A known cause: the Helm chart kept {project_id: 1} for clients until 0.6.41, though the documentation changed in 0.6.38."
	case variantChartSchemas:
		return "A known cause: the Helm chart had no rule for schemas until 0.6.41, though the documentation had one from 0.6.20."
	case variantLateVectors:
		return "A known cause: releases 0.5.3 to 0.5.6 created versionvectors before any rule sharded it."
	case variantLateRevisions:
		return "A known cause: release 0.6.39 created revisions before any rule sharded it."
	}
	return code
}

// Todo says what to do about a finding.
func (f Finding) Todo() string {
	if f.Fix.Code == FixBack {
		return "Nothing has to be done: what is here is newer than the layout compared with."
	}
	switch f.Code {
	case FindNewer:
		return "Compare with " + f.Layout + " to see every key that lags behind, then bring them up one collection at a time."
	case FindMissing:
		return "Nothing has to be done for a release that runs without. Before one that needs it starts, shard it while " +
			"it is empty, which takes no time."
	case FindDocumented:
		return "Nothing has to be done while it is small. To shard it, make the index first; the rows stay where they are " +
			"until the balancer moves chunks."
	}
	switch f.Fix.Code {
	case FixNone:
		return "Nothing has to be done."
	case FixShard:
		return "Make the index, then shard it. The rows stay where they are until the balancer moves chunks."
	case FixRefine:
		return "The key only lacks fields at its end, so it can be refined in place: no row moves, no chunk is cut until " +
			"somebody splits it, and there is no way back. Make the index first."
	case FixReshard:
		return "Resharding rewrites the whole collection: it needs free room of more than its size, runs for as long as " +
			"the copy takes, and stops writes for about two seconds at its end. One at a time."
	case FixCopy:
		return "This MongoDB version cannot change a shard key. Upgrade to 5.0 or later, or dump, drop, shard and restore " +
			"the collection while nothing writes."
	case FixMerge:
		return "It can be gathered on one shard again. That rewrites it as resharding does."
	case FixDrop:
		return "Once no server as old as " + f.Layout + " runs and a backup exists, look at its size and drop it."
	}
	return f.Fix.Code
}
