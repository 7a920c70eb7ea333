package growth

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// order puts the moves in the order in which they are run: the fullest shards are relieved first, and
// neighbours in the order take place on different shards, so that they run at the same time.
func (p *Plan) order(in *Input) {
	queues := make([][]Move, len(in.Shards))
	for _, m := range p.Moves {
		queues[m.From] = append(queues[m.From], m)
	}
	byFullness := make([]int, len(in.Shards))
	for i := range byFullness {
		byFullness[i] = i
	}
	slices.SortStableFunc(byFullness, func(a, b int) int {
		return cmp.Compare(in.share(b, p.Before[b].Bytes), in.share(a, p.Before[a].Bytes))
	})
	p.Moves = p.Moves[:0]
	for n := 0; ; n++ {
		any := false
		for _, s := range byFullness {
			if n < len(queues[s]) {
				p.Moves, any = append(p.Moves, queues[s][n]), true
			}
		}
		if !any {
			return
		}
	}
}

// share is how full a shard is with some bytes: of its capacity or, where no capacity is known, in bytes.
func (in *Input) share(shard int, bytes int64) float64 {
	if c := in.Shards[shard].Capacity; c > 0 {
		return float64(bytes) / float64(c)
	}
	return float64(bytes)
}

// deletion is what a source has still to delete.
type deletion struct {
	at    time.Duration
	shard int
	bytes int64
}

type deletions []deletion

func (d deletions) Len() int           { return len(d) }
func (d deletions) Less(i, j int) bool { return d[i].at < d[j].at }
func (d deletions) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deletions) Push(x any)        { *d = append(*d, x.(deletion)) }
func (d *deletions) Pop() any {
	old := *d
	last := old[len(old)-1]
	*d = old[:len(old)-1]
	return last
}

// schedule runs the moves on a clock: each as soon as its two shards can take part in it. What moves counts at
// its target from the start of its move, and at its source until the source has deleted it.
func (p *Plan) schedule(in *Input) {
	used := make([]int64, len(in.Shards))
	for i, u := range p.Before {
		used[i] = u.Bytes
	}
	p.Peak = slices.Clone(used)
	free := make([][]time.Duration, len(in.Shards)) // when each place for a move is free
	for i := range free {
		free[i] = make([]time.Duration, in.Pace.PerShard)
	}
	size := in.Group
	if size == 0 {
		size = max(len(p.Moves), 1)
	}
	var waiting deletions
	var begin time.Duration
	for first := 0; first < len(p.Moves); first += size {
		group := p.Moves[first:min(first+size, len(p.Moves))]
		g := Group{First: first, Moves: len(group), Start: begin, End: begin, Fullest: -1}
		for i := range group {
			m := &group[i]
			m.Group = len(p.Groups)
			from, to := earliest(free[m.From]), earliest(free[m.To])
			m.Start = max(begin, *from, *to)
			m.End = m.Start + in.Pace.duration(m.Bytes)
			*from, *to = m.End, m.End
			g.Bytes += m.Bytes
			g.End = max(g.End, m.End)
		}
		// The clock of space: starts of moves and deletions, in the order of time.
		for _, m := range byStart(group) {
			for len(waiting) > 0 && waiting[0].at <= m.Start {
				d := heap.Pop(&waiting).(deletion)
				used[d.shard] -= d.bytes
			}
			used[m.To] += m.Bytes
			p.Peak[m.To] = max(p.Peak[m.To], used[m.To])
			heap.Push(&waiting, deletion{m.End + in.Pace.Cleanup, m.From, m.Bytes})
			for _, s := range [2]int{m.From, m.To} {
				if in.Shards[s].Capacity > 0 && (g.Fullest < 0 || in.share(s, used[s]) > in.share(g.Fullest, g.Used)) {
					g.Fullest, g.Used = s, used[s]
				}
			}
		}
		p.Groups = append(p.Groups, g)
		p.Duration = g.End
		begin = g.End + in.Pace.Pause
	}
}

// BatchDuration is how long the moves take as a batch of plans, which runs the moves of one collection one after
// the other, whatever shards they are between. The balancer does not: it moves one chunk for each pair of shards.
func (p *Plan) BatchDuration(in *Input) time.Duration {
	shards := make([][]time.Duration, len(in.Shards))
	for i := range shards {
		shards[i] = make([]time.Duration, in.Pace.PerShard)
	}
	collections := make([]time.Duration, len(in.Collections))
	var begin, end time.Duration
	for i, g := range p.Groups {
		if i > 0 {
			begin = end + in.Pace.Pause
		}
		for _, m := range p.Moves[g.First : g.First+g.Moves] {
			from, to, collection := earliest(shards[m.From]), earliest(shards[m.To]), &collections[m.Collection]
			done := max(begin, *from, *to, *collection) + in.Pace.duration(m.Bytes)
			*from, *to, *collection = done, done, done
			end = max(end, done)
		}
	}
	return end
}

// byStart are moves in the order in which they begin.
func byStart(moves []Move) []Move {
	out := slices.Clone(moves)
	slices.SortStableFunc(out, func(a, b Move) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

func earliest(times []time.Duration) *time.Duration {
	least := &times[0]
	for i := range times {
		if times[i] < *least {
			least = &times[i]
		}
	}
	return least
}

// duration is how long a move takes.
func (p Pace) duration(bytes int64) time.Duration {
	seconds := bytes / p.BytesPerSecond
	rest := bytes % p.BytesPerSecond
	return p.Overhead + time.Duration(seconds)*time.Second +
		time.Duration(float64(rest)/float64(p.BytesPerSecond)*float64(time.Second))
}
