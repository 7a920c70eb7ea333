package pipeline

import (
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
)

// Combine runs Merge on the router over the combined outputs of the shards. A
// RouterOnly pipeline has no streams.
func (p Parts) Combine(shards []Docs, env *Env) (Docs, error) {
	merge, err := Compile(p.Merge, env)
	if err != nil {
		return nil, err
	}
	in := concat(shards...)
	if p.SortedBy != nil && len(shards) > 1 {
		order, err := query.ParseSort(p.SortedBy)
		if err != nil {
			return nil, err
		}
		in = interleave(order, shards)
	}
	return merge.Run(in), nil
}

// Interleave merges streams that are each sorted by a pattern; of documents
// with equal keys those of the earlier stream come first.
func Interleave(pattern bson.Raw, streams []Docs) (Docs, error) {
	order, err := query.ParseSort(pattern)
	if err != nil {
		return nil, err
	}
	return interleave(order, streams), nil
}

// puller is one stream with its next document.
type puller struct {
	next func() (bson.Raw, error, bool)
	keyed
}

func interleave(order *query.Sort, streams []Docs) Docs {
	return func(yield func(bson.Raw, error) bool) {
		var open []*puller
		for _, s := range streams {
			next, stop := iter.Pull2(s)
			defer stop()
			p := &puller{next: next}
			more, err := p.advance(order)
			if err != nil {
				yield(nil, err)
				return
			}
			if more {
				open = append(open, p)
			}
		}
		// There are as many streams as shards: looking at each is cheap.
		for len(open) > 0 {
			best := 0
			for i := 1; i < len(open); i++ {
				if order.CompareKeys(open[i].key, open[best].key) < 0 {
					best = i
				}
			}
			if !yield(open[best].doc, nil) {
				return
			}
			more, err := open[best].advance(order)
			if err != nil {
				yield(nil, err)
				return
			}
			if !more {
				open = append(open[:best], open[best+1:]...)
			}
		}
	}
}

func (p *puller) advance(order *query.Sort) (bool, error) {
	doc, err, more := p.next()
	if !more || err != nil {
		return false, err
	}
	p.keyed = keyed{order.Key(doc), doc}
	return true, nil
}
