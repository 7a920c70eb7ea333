package shares

import (
	"net/url"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/param"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// SeveralProjects stands for a project where chunks are meant that several projects share.
const SeveralProjects = "several"

// AllProjects stands for a project where the parts are projects by their estimated sizes, though rows are placed
// by document, so that a part is no chunk that a plan can move.
const AllProjects = "all"

// ShardWhyQuery asks why a shard has more or less than its even share. Without a collection the
// parts are collections; with one its projects, or its chunks where rows are placed by document;
// with a project too, its chunks.
type ShardWhyQuery struct {
	Shard   string
	By      string // OfBytes, OfDocuments or OfWrites
	NS      topology.Namespace
	Project string // hex id, SeveralProjects or AllProjects
	Limit   int    // parts that are listed one by one
	Brief   bool   // without what would help
}

// Parameters are those of the address.
func (q *ShardWhyQuery) Parameters() param.List {
	q.By = data.OfBytes
	return param.List{
		param.OneOf(&q.By, "by", "", data.OfBytes, data.OfDocuments, data.OfWrites),
		param.Text(&q.NS, "ns", "one collection: by project where its key begins with the project, else by chunk"),
		param.Of("project", "with ns: the chunks of this project, 24 hexadecimal digits, or those that \"several\" share; \"all\": "+
			"by project as estimated", func(typed string) error {
			if q.Project = typed; typed != SeveralProjects && typed != AllProjects {
				id, err := bson.ObjectIDFromHex(typed)
				if err != nil {
					return fault.New(fault.Invalid, "project must be 24 hexadecimal digits, \"several\" or \"all\", not %q.",
						sanitize.Truncate(typed, 60))
				}
				q.Project = id.Hex()
			}
			if q.NS == "" {
				return fault.New(fault.Invalid, "project= needs ns=: the chunks of a project are those of one collection.")
			}
			return nil
		}),
		param.Limit(&q.Limit), // parts that are listed one by one
	}
}

// URL is the address of the page.
func (q ShardWhyQuery) URL() string {
	u := url.Values{}
	if q.By != data.OfBytes {
		answer.SetParameter(u, "by", q.By)
	}
	answer.SetParameter(u, "ns", string(q.NS))
	answer.SetParameter(u, "project", q.Project)
	return answer.Address(answer.ShardURL(q.Shard)+"/why", u, 1)
}

// Of is the same question of something else: "" leaves a part of it out.
func (q ShardWhyQuery) Of(by string, ns topology.Namespace, project string) ShardWhyQuery {
	q.By, q.NS, q.Project = by, ns, project
	return q
}

// unitOfMeasure is the smallest amount that is told apart: whole bytes and documents, and
// thousandths of a write per second.
func (q ShardWhyQuery) unitOfMeasure() float64 {
	if q.By == data.OfWrites {
		return 1000
	}
	return 1
}

// AmountOf is what follows an amount: "4.17 GiB of data", "12 documents".
func (q ShardWhyQuery) AmountOf(amount float64) string {
	switch q.By {
	case data.OfDocuments:
		return " " + message.Plural(int64(amount), "document", "documents")
	case data.OfWrites:
		return " of counted writes"
	}
	return " of data"
}
