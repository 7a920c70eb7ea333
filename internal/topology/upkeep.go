package topology

// Upkeep is what the balancer does with the chunks of a collection beside moving them:
// it merges adjacent ones (7.0 and later), and all of them while it defragments the
// collection (5.3 and later). The zero value is the default of every release.
type Upkeep struct {
	AutoMergeOff  bool   // enableAutoMerge is false
	Defragmenting bool   // defragmentCollection is true
	Phase         string // defragmentationPhase, hostile text; "" until the balancer has begun
	// Unrecorded: a past state that was stored before the other fields were.
	Unrecorded bool
}

// Phases of a defragmentation in the order in which they follow each other. Releases up
// to 6.0 have splitChunks too.
const (
	PhaseMergeAndMeasure = "mergeAndMeasureChunks"
	PhaseMoveAndMerge    = "moveAndMergeChunks"
	PhaseMerge           = "mergeChunks"
	PhaseSplit           = "splitChunks"
	PhaseFinished        = "finished"
)

// Ending reports whether no defragmentation is running, or one that is in its last
// phase, to which the server goes when it is told to stop.
func (u Upkeep) Ending() bool {
	switch u.Phase {
	case PhaseMerge, PhaseSplit, PhaseFinished:
		return true
	}
	return !u.Defragmenting
}
