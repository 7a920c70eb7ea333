package survey

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Kind is what a survey counts.
type Kind string

// The kinds of surveys.
const (
	Projects Kind = "projects" // project-wide collections, all projects, row by row
	Project  Kind = "project"  // project-wide collections of one project; for a small one also the others
	Document Kind = "document" // document-wide collections of one Yorkie document

	// Sample was all projects in document-wide collections, from random rows. Stored ones are shown.
	Sample Kind = "sample"
)

// Request describes a survey.
type Request struct {
	Kind      Kind
	Project   bson.ObjectID      // for kind project; optional for document
	Document  bson.ObjectID      // for kind document
	Text      string             `json:",omitempty"` // the document's id as people write it, where that is no ObjectID
	DB        string             // only this database; "" = all with the profile's data
	NS        topology.Namespace // only this collection; "" = all that the kind measures
	Precision float64            // of a stored sample: half the interval, as a share of the collection; 0 = 2 %
}

// State is the state of a survey.
type State string

// The states of surveys.
const (
	Queued  State = "queued"
	Running State = "running"
	Done    State = "done"
	Stopped State = "stopped"
	Failed  State = "failed"
)

// Ended reports whether the state is final.
func (s State) Ended() bool { return s == Done || s == Stopped || s == Failed }

// Progress is how far a survey is.
type Progress struct {
	Done, Total int64         // rows, or queries for kind document; Total < 0: unknown
	Left        time.Duration // estimated, including the wait for other surveys; < 0: unknown
	Active      time.Duration // running time, without restarts
	Returned    int64         // documents returned by the cluster
	PacedDown   bool          // paused because the cluster has become slower
}

// Survey is the current state of a survey.
type Survey struct {
	ID       string
	Request  Request
	By       string // principal id of the requester
	State    State
	Progress Progress
	Queued   time.Time
	Started  time.Time // zero: not yet
	Ended    time.Time // zero: not yet
	Problem  string    // why it failed
}

// maxIDText bounds, in bytes, the text of an id.
const maxIDText = 1024

// DocumentText is the document's id as people write it; "" if there is none.
func (r Request) DocumentText() string {
	if r.Text != "" || r.Document.IsZero() {
		return r.Text
	}
	return r.Document.Hex()
}

// check rejects invalid requests.
func (r Request) check() error {
	if placement.IsStandIn(r.Document) {
		return fault.New(fault.Conflict, "%s stands for a document's id of another type than ObjectID, and does not tell it. "+
			"Give the id as it is stored.", r.Document.Hex())
	}
	if len(r.Text) > maxIDText {
		return fault.New(fault.Invalid, "The id of a document has at most %d bytes, and this one has %d.", maxIDText, len(r.Text))
	}
	switch r.Kind {
	case Sample:
		return fault.New(fault.Invalid, "Nothing is sampled on demand any more: what each project holds is estimated all the time. "+
			"The kinds of surveys are projects, project and document.")
	case Projects:
	case Project:
		// Yorkie's first project has the zero id, so it is valid.
	case Document:
		if r.Document.IsZero() && r.Text == "" {
			return fault.New(fault.Invalid, "A survey of a document needs the document's id.")
		}
	default:
		return fault.New(fault.Invalid, "The kind of a survey is projects, project or document.")
	}
	// Unused arguments are rejected, because whoever gives one expects an effect.
	for _, x := range []struct {
		given bool
		name  string
		of    []Kind
	}{
		{!r.Document.IsZero() || r.Text != "", "document", []Kind{Document}},
		{!r.Project.IsZero(), "project", []Kind{Project, Document}},
	} {
		if x.given && !slices.Contains(x.of, r.Kind) {
			return fault.New(fault.Invalid, "A survey of kind %s does not use %q; leave it out, or choose another kind.", r.Kind, x.name)
		}
	}
	return nil
}
