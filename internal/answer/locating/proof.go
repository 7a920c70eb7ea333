package locating

import (
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
)

// proofOf says what the mongos answered beside what the table says.
func proofOf(p placement.Proof) api.Proof {
	return api.Proof{
		State: string(p.State), Ours: answer.NotNil(p.Ours), Theirs: answer.NotNil(p.Theirs), Newer: string(p.Newer),
		Reread: p.Reread, Seq: p.Seq,
		Read: api.Time(p.Read), At: api.Time(p.At), Text: sanitize.Sentence(proofText(p)),
	}
}

func proofText(p placement.Proof) string {
	ours, theirs, why := shardList(p.Ours), shardList(p.Theirs), ""
	if p.Err != nil {
		why = fault.Text(p.Err)
	}
	switch p.State {
	case placement.ProofAgrees:
		return "Proven: the mongos would also look on " + theirs + "."
	case placement.ProofCaughtUp:
		if p.Newer == placement.SideRouter {
			return "The table and the mongos differed: the mongos was newer. After reading it again, the table agrees: " + theirs + "."
		}
		return "The table and the mongos differed: the table was newer. The mongos has caught up and agrees: " + theirs + "."
	case placement.ProofDiffers:
		if p.Newer == placement.SideTable {
			return "The mongos is out of date: the table, just read from the config servers, says " + ours + "; the mongos routes to " + theirs +
				" by an older cache, which it refreshes at its next query there."
		}
		return "The table and the mongos differ: the table says " + ours + ", the mongos " + theirs +
			". Which is newer is not known, because the table could not be read again: " + why
	case placement.ProofFailed:
		return "Not proven: " + why
	case placement.ProofSkipped:
		return "Not checked: no query can be sent for this."
	}
	return string(p.State)
}

func shardList(names []string) string {
	if len(names) == 0 {
		return "no shard"
	}
	return format.JoinWords(names)
}
