package game

import "strings"

// Query is a form of query, asked with each value that there is, and how many players answer it. As in MongoDB, a query
// that does not name the first field of the key is asked of everybody.
type Query struct {
	Text  string  // the fields that the query names
	Asked int     // different values
	One   int     // of them answered by one player
	All   int     // of them answered by every player, where there are several
	Mean  float64 // players that answer one, on average
}

// queries asks for each field, and for all fields of the key together where that is something else.
func (g *Game) queries() (out []Query) {
	w, key := g.options.Workload, g.options.Key
	for i, name := range w.Fields {
		out = append(out, g.query(name, func(field int) bool { return field == i }))
	}
	var names []string
	fields := map[int]bool{}
	for _, p := range key.parts {
		if !fields[p.field] {
			names = append(names, w.Fields[p.field])
		}
		fields[p.field] = true
	}
	if len(names) > 1 {
		out = append(out, g.query(strings.Join(names, " and "), func(field int) bool { return fields[field] }))
	}
	return out
}

// query asks by the values of the fields that are named.
func (g *Game) query(text string, named func(field int) bool) Query {
	q, seen, sum := Query{Text: text}, map[string]bool{}, 0
	var values, prefix strings.Builder
	for i := range g.arrive {
		card := &g.arrive[i].card
		values.Reset()
		for field, v := range card.values {
			if named(field) {
				values.WriteString(v.key)
			}
		}
		if seen[values.String()] {
			continue
		}
		seen[values.String()] = true
		prefix.Reset()
		for _, p := range g.options.Key.parts {
			if !named(p.field) {
				break
			}
			prefix.WriteString(p.of(card).key)
		}
		n := g.holders(prefix.String(), after(prefix.String()))
		q.Asked++
		sum += n
		switch {
		case n == 1:
			q.One++
		case n == g.holding():
			q.All++
		}
	}
	if q.Asked > 0 {
		q.Mean = float64(sum) / float64(q.Asked)
	}
	return q
}

// holding is how many players have a chunk.
func (g *Game) holding() (n int) {
	for _, chunks := range g.owned {
		if chunks > 0 {
			n++
		}
	}
	return n
}

// after is the first key behind all that begin with a prefix; "" if there is none.
func after(prefix string) string {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return ""
}
