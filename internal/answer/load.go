package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// What counts as even: the fullest shard's distance above the mean. A chunk is
// the smallest thing that moves, so small differences cannot be helped.
const (
	evenBelow     = 0.15
	somewhatBelow = rules.UnevenShare
)

// Load is what every shard carries.
type Load struct {
	Table       *topology.Table
	Shards      []topology.Shard
	Bytes       []topology.Figure // parallel to Shards
	Documents   []topology.Figure
	Chunks      []topology.Figure
	ShardedOn   []int    // sharded collections with chunks there, parallel to Shards
	Collections int      // sharded ones
	without     []string // those of them whose chunks are not known; they are in no sum
	unread      int      // collections whose sizes are not known yet
	measured    int      // collections whose sizes are known
}

// loadKey is the key of what is kept of a table's load.
type loadKey struct{}

// Load is what every shard carries.
func (v View) Load() Load { return OncePerTable(v, loadKey{}, func() Load { return LoadOf(v.Table) }) }

// LoadOf adds up every collection's part on every shard. It costs the parts that there are, whatever the number of
// shards.
func LoadOf(t *topology.Table) Load {
	n := len(t.Shards)
	l := Load{Table: t, Shards: t.Shards, ShardedOn: make([]int, n)}
	bytes, docs := make([]Sum, n), make([]Sum, n)
	chunks := make([]int64, n)
	var bytesOfAll, docsOfAll Sum // the same on each shard
	at := ShardPositions(t)
	namespaces := append([]topology.Namespace(nil), t.Unsharded...)
	for _, c := range t.Collections {
		if !Visible(c) {
			continue
		}
		namespaces = append(namespaces, c.NS)
		if !Sharded(c) {
			continue
		}
		l.Collections++
		counts := c.Chunks.CountByShard()
		for i, s := range l.Shards {
			if own := counts[s.Name]; own > 0 {
				chunks[i] += int64(own)
				l.ShardedOn[i]++
			}
		}
	}
	for d := range t.Missing {
		if !d.Unsplittable && !d.Temporary && !topology.IsInternal(d.NS) {
			l.Collections++
			l.without = append(l.without, string(d.NS))
		}
	}
	for _, ns := range namespaces {
		if topology.IsInternal(ns) {
			continue
		}
		if s, ok := t.Sizes[ns]; !ok || s.At.IsZero() {
			l.unread++
		} else {
			l.measured++
		}
		parts, others := t.PartsOf(ns)
		if len(parts) > 0 && !(others.Bytes.Known && allKnown(parts)) {
			for i, s := range l.Shards {
				if _, has := parts[s.Name]; !has {
					bytes[i].Add(others.Bytes)
					docs[i].Add(others.Documents)
				}
			}
		} else { // a certain 0 changes no sum of what is known
			bytesOfAll.Add(others.Bytes)
			docsOfAll.Add(others.Documents)
		}
		for name := range parts {
			if i, ok := at[name]; ok {
				size := parts[name]
				bytes[i].Add(size.Bytes)
				docs[i].Add(size.Documents)
			}
		}
	}
	for i := range l.Shards {
		bytes[i].plus(bytesOfAll)
		docs[i].plus(docsOfAll)
	}
	if t.Loaded && len(namespaces) == 0 && len(t.Databases) == 0 { // nothing stored is a fact, not a gap
		for i := range l.Shards {
			none := topology.Figure{Known: true, Exact: true, Method: "routing", At: t.Health[topology.PartDatabases].At}
			bytes[i].Add(none)
			docs[i].Add(none)
		}
	}
	for i := range l.Shards {
		l.Bytes = append(l.Bytes, bytes[i].Figure())
		l.Documents = append(l.Documents, docs[i].Figure())
		l.Chunks = append(l.Chunks, topology.Figure{Known: true, Exact: true, Value: chunks[i], Method: "routing"})
	}
	return l
}

// allKnown tells whether the bytes and documents of all parts are known.
func allKnown(parts map[string]topology.Size) bool {
	for name := range parts {
		if size := parts[name]; !size.Bytes.Known || !size.Documents.Known {
			return false
		}
	}
	return true
}

// Balance judges how evenly the shards are filled that are to stay: by bytes if they are known, else by chunks. An even
// share is an equal part of all for each of them, as EvenShare has it.
func (l Load) Balance() message.Message {
	figures, of := l.Bytes, "the data"
	for _, f := range l.Bytes {
		if !f.Known {
			figures, of = l.Chunks, "the chunks"
			break
		}
	}
	total, top, which, stay := int64(0), int64(-1), 0, 0
	for i, f := range figures {
		total += f.Value
		if l.Shards[i].Draining {
			continue
		}
		if stay++; f.Value > top {
			top, which = f.Value, i
		}
	}
	switch {
	case len(l.Shards) == 0:
		return message.New("balance.noShards", "No shards are known")
	case len(l.Shards) == 1:
		return message.New("balance.oneShard", "One shard: nothing to balance")
	case stay < 2:
		return message.New("balance.oneStays", "Fewer than two shards stay: nothing to balance")
	case total == 0:
		return message.New("balance.noData", "No data yet")
	}
	n := float64(stay)
	evenShare := message.Words("evenShare", "an even share")
	if stay < len(l.Shards) {
		evenShare.Value = "an even share of those that do not drain"
	}
	if l.unread > 0 && of == "the data" {
		return message.New("balance.partial", "Sizes are still being read: of what is known, {shard} has {share}; {evenShare} is {even}",
			message.Shard("shard", l.Shards[which].Name), message.Share("share", Share(top, total)), message.Share("even", 1/n), evenShare)
	}
	if len(l.without) > 0 {
		return message.New("balance.without",
			"Without {without}, whose chunks are not known, {shard} has {share} of {of}; {evenShare} is {even}",
			message.Text("without", Few(l.without)), message.Shard("shard", l.Shards[which].Name), message.Share("share", Share(top, total)),
			message.Words("of", of), message.Share("even", 1/n), evenShare)
	}
	code, pattern := "balance.uneven", "Uneven: {shard} has {share} of {of}; {evenShare} is {even}"
	switch over := float64(top)*n/float64(total) - 1; {
	case over <= evenBelow:
		code, pattern = "balance.even", "Balanced: the fullest shard, {shard}, has {share} of {of}; {evenShare} is {even}"
	case over <= somewhatBelow:
		code, pattern = "balance.somewhat", "Somewhat uneven: {shard} has {share} of {of}; {evenShare} is {even}"
	case of == "the data" && l.Table != nil && float64(top)-float64(total)/n < rules.UnevenBytes(l.Table.Balancer):
		code, pattern = "balance.little", "Little data yet, so shares say little: {shard} has {share} of {of}; {evenShare} is {even}"
	}
	return message.New(code, pattern, message.Shard("shard", l.Shards[which].Name),
		message.Share("share", Share(top, total)), message.Words("of", of), message.Share("even", 1/n), evenShare)
}

// SizeText is how big the cluster is, and which collections are in no sum.
func (l Load) SizeText() message.Message {
	var chunks int64
	for _, f := range l.Chunks {
		chunks += f.Value
	}
	facts := []message.Fact{message.Count("shards", len(l.Shards)), message.Count("collections", l.Collections),
		message.Count("chunks", chunks)}
	without := "."
	if len(l.without) > 0 {
		without, facts = ", without those of {without}.", append(facts, message.Text("without", Few(l.without)))
	}
	return message.New("clusterSize",
		message.Plural(len(l.Shards), "1 shard, ", "{shards} shards, ")+
			message.Plural(l.Collections, "1 sharded collection, ", "{collections} sharded collections, ")+
			message.Plural(chunks, "1 chunk", "{chunks} chunks")+without,
		facts...)
}

// Partial says that the first round of size reads is still under way.
func (l Load) Partial() api.State {
	if l.unread == 0 {
		return api.State{}
	}
	return api.State{Code: "partial", Title: "Sizes are still being read.",
		Detail: format.Count(int64(l.measured)) + " of " + format.Count(int64(l.measured+l.unread)) +
			" collections are measured; totals are too low until the others are."}
}
