package holdings

import "shardboard/internal/message"

// State is whether the measuring continues.
type State string

// The states.
const (
	Off       State = "off"       // switched off
	Waiting   State = "waiting"   // the routing table, its statistics or the stored samples are not loaded yet
	Measuring State = "measuring" // rows are read
	Paced     State = "paced"     // paused because the cluster has become slower
	Standby   State = "standby"   // another process measures; its stored samples are shown
	Nothing   State = "nothing"   // no collection here belongs to the profile
	Denied    State = "denied"    // no collection may be read
)

// Text says what a state means for the figures.
func (s State) Text() message.Message {
	text := map[State]string{
		Off:       "Sizes by project are not estimated: --project-sizes-per-minute is 0.",
		Waiting:   "Sizes by project are not estimated yet: waiting for the statistics of the collections.",
		Measuring: "Sizes by project are estimated all the time, from random rows.",
		Paced:     "Estimating sizes by project is paused because the cluster has become slower.",
		Standby:   "Another shardboard process estimates the sizes by project; its stored figures are shown.",
		Nothing:   "No database here has the profile's collections, so there are no sizes by project.",
		Denied:    "Sizes by project are not estimated: the cluster user needs find on the collections.",
	}[s]
	return message.New("holdings."+string(s), text)
}
