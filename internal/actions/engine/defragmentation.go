package engine

import (
	"slices"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// defragmentationOver handles a command that has started a defragmentation which was over
// before its effect was read: a collection with few chunks is defragmented within
// seconds, and nothing in the cluster remembers it but the merges in the changelog. It
// returns false if that does not apply, or is not known yet.
func (x *execution) defragmentationOver(s Step, a answer, err error, reads int, proof []Reading, seen *time.Time) (func(*Step), bool) {
	if !s.EndsByItself() || replacedSince(s, proof) {
		return nil, false
	}
	why := message.New("step.defragmented", "The server accepted the command, and the defragmentation is over already.")
	switch a {
	case acknowledged:
		if reads+1 < proofReads {
			return nil, false
		}
	case noAnswer:
		if !x.unansweredFailed(s, seen) || !x.hasMerged(s) {
			return nil, false
		}
		why = message.New("step.defragmentedUnanswered",
			"No answer came, but chunks of {ns} were merged since: the defragmentation is over already.", message.Namespace("ns", s.NS))
	default:
		return nil, false
	}
	return func(s *Step) {
		s.Resolved = s.State == Unknown
		s.State, s.Proven, s.Answered, s.Why = Succeeded, proof, a == acknowledged, why
		if err != nil {
			s.setError(err)
		}
	}, true
}

// replacedSince reports whether the collection is not the one that the step was sent for.
func replacedSince(s Step, proof []Reading) bool {
	for _, need := range s.Needs {
		uuid := need.Want["uuid"]
		for _, r := range proof {
			if uuid != "" && r.Fact.Kind == operation.FactCollection && r.Fact.NS == need.NS && r.Got["uuid"] != uuid {
				return true
			}
		}
	}
	return false
}

// hasMerged reports whether the changelog has a merge in the collection since a step was sent.
func (x *execution) hasMerged(s Step) bool {
	return slices.ContainsFunc(x.stepEvents(s), func(e topology.Event) bool {
		return (e.What == "merge" || e.What == "autoMerge") && !e.Time.Before(s.Sent.Add(-roundSlack))
	})
}
