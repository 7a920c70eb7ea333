package survey

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// Kind says what is measured and how.
type Kind string

// The kinds of surveys.
const (
	Sample   Kind = "sample"   // document-wide collections, all projects, from random rows
	Projects Kind = "projects" // project-wide collections, all projects, row by row
	Project  Kind = "project"  // project-wide collections of one project; of a small one also the others
	Document Kind = "document" // document-wide collections of one Yorkie document
)

// Request asks for a survey.
type Request struct {
	Kind      Kind
	Project   bson.ObjectID      // of kind project; optional for document
	Document  bson.ObjectID      // of kind document
	DB        string             // this database only; "" = every one with the profile's data
	NS        topology.Namespace // this collection only; "" = every one that the kind measures
	Precision float64            // of a sample: half the interval, as a share of the collection; 0 = 2 %
}

// State is where a survey is.
type State string

// The states of surveys.
const (
	Queued  State = "queued"
	Running State = "running"
	Done    State = "done"
	Stopped State = "stopped"
	Failed  State = "failed"
)

// Ended tells whether nothing more will happen.
func (s State) Ended() bool { return s == Done || s == Stopped || s == Failed }

// Progress is how far a survey is.
type Progress struct {
	Done, Total int64         // rows, or queries of kind document; Total < 0: not known
	Left        time.Duration // estimated, the wait for others before it included; < 0: not known
	Active      time.Duration // time spent on it, restarts left out
	Returned    int64         // documents that the cluster returned for it
	PacedDown   bool          // it waits, because the cluster answers slower than before
}

// Survey is one survey as it is now.
type Survey struct {
	ID       string
	Request  Request
	By       string // who asked
	State    State
	Progress Progress
	Queued   time.Time
	Started  time.Time // zero: not yet
	Ended    time.Time // zero: not yet
	Problem  string    // why it failed
}

// check refuses requests that cannot be carried out.
func (r Request) check() error {
	switch r.Kind {
	case Sample, Projects:
	case Project:
		// The project of Yorkie that is made first has the zero id: it is one too.
	case Document:
		if r.Document.IsZero() {
			return fault.New(fault.Invalid, "A survey of a document needs the document's id, 24 hexadecimal digits.")
		}
	default:
		return fault.New(fault.Invalid, "The kind of a survey is sample, projects, project or document.")
	}
	// What a kind does not use is refused: who gives it believes that it counts.
	for _, x := range []struct {
		given bool
		name  string
		of    []Kind
	}{
		{!r.Document.IsZero(), "document", []Kind{Document}},
		{!r.Project.IsZero(), "project", []Kind{Project, Document}},
		{r.Precision != 0, "precision", []Kind{Sample}},
	} {
		if x.given && !slices.Contains(x.of, r.Kind) {
			return fault.New(fault.Invalid, "A survey of kind %s does not use %q; leave it out, or choose another kind.", r.Kind, x.name)
		}
	}
	if r.Precision != 0 && (r.Precision < finest || r.Precision > coarsest) {
		return fault.New(fault.Invalid, "The precision of a sample is a share from %g to %g.", finest, coarsest)
	}
	return nil
}
