package keys

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Model is a collection of Yorkie's that is made up: as many projects, documents and rows as it says, in the order
// in which they would be inserted. The same model makes the same rows.
type Model struct {
	Collection string  // documents, clients or changes
	Seed       uint64  // of all that is by chance
	Projects   int     // projects, which come into being evenly over the time
	Rows       int     // rows in all
	Documents  int     // documents that changes are of; for changes alone
	Skew       float64 // exponent of Zipf's law by which rows fall to projects and documents: 0 evenly, 1 as words in a text
	RowBytes   int     // size of a row
	Growth     float64 // how many times as many rows come in a day at the end as at the beginning; 0 and 1: as many
	Start      time.Time
	Span       time.Duration // from the first row to the last
	Of         int64         // rows that the collection has, of which Rows are drawn; 0: no others
	Extra      Extra         // fields beside those that Yorkie writes
}

// Limits of a model.
const (
	MostProjects  = 1_000_000
	MostDocuments = 1_000_000
	MostSkew      = 3
	MostGrowth    = 1000
)

// Check refuses a model: one sentence, with the field and its limit.
func (m *Model) Check() error {
	switch {
	case m.Collection != "documents" && m.Collection != "clients" && m.Collection != "changes":
		return fmt.Errorf("collection: it is %q, expected documents, clients or changes", m.Collection)
	case m.Projects < 1 || m.Projects > MostProjects:
		return fmt.Errorf("projects: there are %d, expected 1 to %d", m.Projects, MostProjects)
	case m.Rows < 1 || m.Rows > MostRows:
		return fmt.Errorf("rows: there are %d, expected 1 to %d", m.Rows, MostRows)
	case m.Collection == "changes" && (m.Documents < 1 || m.Documents > MostDocuments):
		return fmt.Errorf("documents: there are %d, expected 1 to %d", m.Documents, MostDocuments)
	case math.IsNaN(m.Skew) || m.Skew < 0 || m.Skew > MostSkew:
		return fmt.Errorf("skew: it is %g, expected 0 to %d", m.Skew, MostSkew)
	case m.RowBytes < 1 || m.RowBytes > 16<<20:
		return fmt.Errorf("rowBytes: it is %d, expected 1 to %d, as no document is larger", m.RowBytes, 16<<20)
	case m.Span < 0:
		return fmt.Errorf("span: it is negative")
	case math.IsNaN(m.Growth) || m.Growth < 0 || m.Growth > MostGrowth:
		return fmt.Errorf("growth: it is %g, expected 0 to %d", m.Growth, MostGrowth)
	}
	return m.Extra.Check()
}

// Fields are the fields that rows of a collection have in a model.
func Fields(collection string) []string {
	if collection == "changes" {
		return []string{"_id", "project_id", "doc_id", "server_seq"}
	}
	return []string{"_id", "project_id", "key"}
}

// Sample makes the rows.
func (m *Model) Sample() (*Sample, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	s, err := NewSample(append(Fields(m.Collection), m.Extra.Fields...)...)
	if err != nil {
		return nil, err
	}
	s.Expect(m.Rows)
	s.DrawnFrom(m.Of)
	return s, m.Each(func(row bson.D) error {
		raw, err := bson.Marshal(row)
		if err == nil {
			s.Add(raw, m.RowBytes)
		}
		return err
	})
}

// Each makes the rows one by one, in the order of insertion, until do fails. A row does not have the size that the
// model says, only its fields.
func (m *Model) Each(do func(row bson.D) error) error {
	if err := m.Check(); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(m.Seed, 1))
	ids := &idMaker{r: r}
	// A project or document exists from its own place in time on; who comes first is not who is largest.
	projects := newThings(m.Projects, m.Skew, r, func(i int) bson.ObjectID { return ids.at(m.at(i, m.Projects)) })
	var documents *things
	var of []int
	if m.Collection == "changes" {
		documents = newThings(m.Documents, m.Skew, r, func(i int) bson.ObjectID { return ids.at(m.at(i, m.Documents)) })
		of = make([]int, m.Documents)
		for i := range of {
			of[i] = projects.among(r, i*m.Projects/m.Documents+1)
		}
	}
	extra := m.Extra
	for i := range m.Rows {
		at := m.at(i, m.Rows)
		d := bson.D{{Key: "_id", Value: ids.at(at)}}
		switch m.Collection {
		case "changes":
			doc := documents.among(r, i*m.Documents/m.Rows+1)
			d = append(d, bson.E{Key: "project_id", Value: projects.ids[of[doc]]}, bson.E{Key: "doc_id", Value: documents.ids[doc]},
				bson.E{Key: "server_seq", Value: int64(documents.next(doc))})
		default:
			p := projects.among(r, i*m.Projects/m.Rows+1)
			d = append(d, bson.E{Key: "project_id", Value: projects.ids[p]},
				bson.E{Key: "key", Value: fmt.Sprintf("%s-%08x", [...]string{"note", "board", "draft", "sheet"}[r.IntN(4)], r.Uint32())})
		}
		if err := do(append(d, extra.Of(at)...)); err != nil {
			return err
		}
	}
	return nil
}

// at is when the i-th of n things comes into being. The rate grows evenly.
func (m *Model) at(i, n int) time.Time {
	t := float64(i) / float64(n)
	if more := m.Growth - 1; m.Growth > 0 && more != 0 {
		// The part that has come until t is (t + more·t²/2) / (1 + more/2).
		t = (math.Sqrt(1+2*more*t*(1+more/2)) - 1) / more
	}
	return m.Start.Add(time.Duration(float64(m.Span) * t))
}

// idMaker makes ObjectIDs as programs do: seconds, five bytes of the process, a counter.
type idMaker struct {
	r       *rand.Rand
	counter uint32
}

func (m *idMaker) at(t time.Time) (id bson.ObjectID) {
	binary.BigEndian.PutUint32(id[:], uint32(t.Unix()))
	process := uint64(m.r.IntN(4)+1) * 0x9e3779b97f // one of four processes
	for i := range 5 {
		id[4+i] = byte(process >> (8 * i))
	}
	m.counter++
	id[9], id[10], id[11] = byte(m.counter>>16), byte(m.counter>>8), byte(m.counter)
	return id
}

// things are projects or documents: ids in the order in which they were made, and how much falls to each.
type things struct {
	ids  []bson.ObjectID
	sums []float64 // of the weights up to each
	seqs []int
}

func newThings(n int, skew float64, r *rand.Rand, id func(i int) bson.ObjectID) *things {
	t := &things{ids: make([]bson.ObjectID, n), sums: make([]float64, n), seqs: make([]int, n)}
	sum := 0.0
	for i, rank := range r.Perm(n) {
		t.ids[i] = id(i)
		sum += math.Pow(float64(rank+1), -skew)
		t.sums[i] = sum
	}
	return t
}

// among draws one of the first n by their weights.
func (t *things) among(r *rand.Rand, n int) int {
	n = min(n, len(t.sums))
	want := r.Float64() * t.sums[n-1]
	low, high := 0, n-1
	for low < high {
		if middle := (low + high) / 2; t.sums[middle] > want {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

func (t *things) next(i int) int {
	t.seqs[i]++
	return t.seqs[i]
}
