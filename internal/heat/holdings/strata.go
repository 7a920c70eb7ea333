package holdings

import "shardboard/internal/heat/survey"

// minRowsPerShard is how many rows must have been read from a shard to weight them by its own
// statistics. The rows of shards with fewer are weighted together.
const minRowsPerShard = 5

// stratum is how the rows read from one shard stand for all of them.
type stratum struct {
	total       bool  // rows and bytes of the shard are known
	own         bool  // its rows are weighted by them
	empty       bool  // the shard has no rows by the statistics, and none were read
	rows, bytes int64 // of the shard
	row, byte   float64
	read        *cell // nil: no rows were read
}

// strata returns the weights for each shard with rows, or whose rows are known to be there, and those
// for any other shard.
func strata(p *placed, of survey.Total, primary string) (byShard map[string]stratum, other stratum) {
	out := map[string]stratum{}
	for shard, n := range of.ByShard {
		bytes, known := of.BytesByShard[shard]
		out[shard] = stratum{total: known, rows: n, bytes: bytes}
	}
	if len(out) == 0 && of.Rows.Known && of.Bytes.Known { // not sharded
		out[primary] = stratum{total: true, rows: of.Rows.Value, bytes: of.Bytes.Value}
	}
	var all, together sums
	for shard, read := range p.shards {
		s := out[shard]
		s.read = read
		s.own = s.total && s.rows > 0 && s.bytes > 0 && read.rows >= minRowsPerShard && read.bytes > 0
		out[shard] = s
	}
	for _, s := range out {
		if s.total {
			all.add(s)
			if !s.own && s.read != nil {
				together.add(s)
			}
		}
	}
	other.row, other.byte = all.weights()
	if together.read > 0 && together.rows > 0 {
		other.row, other.byte = together.weights()
	}
	for shard, s := range out {
		if s.own {
			s.row, s.byte = float64(s.rows)/float64(s.read.rows), float64(s.bytes)/s.read.bytes
		} else {
			s.row, s.byte = other.row, other.byte
		}
		s.empty = s.total && s.rows == 0 && s.read == nil
		out[shard] = s
	}
	return out, other
}

// sums adds up shards that are weighted together.
type sums struct{ rows, bytes, read, readBytes float64 }

func (m *sums) add(s stratum) {
	m.rows, m.bytes = m.rows+float64(s.rows), m.bytes+float64(s.bytes)
	if s.read != nil {
		m.read, m.readBytes = m.read+float64(s.read.rows), m.readBytes+s.read.bytes
	}
}

// weights are how many rows and bytes one that was read stands for: at least itself, also when the
// statistics are older than the row.
func (m *sums) weights() (row, byte float64) {
	row, byte = 1, 1
	if m.read > 0 && m.rows > 0 {
		row = m.rows / m.read
	}
	if m.readBytes > 0 && m.bytes > 0 {
		byte = m.bytes / m.readBytes
	}
	return row, byte
}

// estimate is what one project has of a stratum; c is nil if none of its rows were read.
func (s stratum) estimate(c *cell, largest int64, loose float64) survey.Weight {
	var rows, bytes, allRows, allBytes weightedSum
	var total, totalBytes int64
	if c != nil {
		rows, bytes = s.addTo(rows, bytes, c)
	}
	switch {
	case s.empty && (c == nil || c.rows == 0):
		return exactly(0, 0)
	case s.own:
		allRows, allBytes = s.addTo(allRows, allBytes, s.read)
		total, totalBytes = s.rows, s.bytes
	}
	return loosen(survey.Weight{
		Rows:  rows.estimate(s.row, allRows, total),
		Bytes: bytes.estimate(s.byte*float64(largest), allBytes, totalBytes),
	}, loose)
}

// addTo adds rows that were read to weighted sums.
func (s stratum) addTo(rows, bytes weightedSum, c *cell) (moreRows, moreBytes weightedSum) {
	n := float64(c.rows)
	if c.rows > 0 {
		rows.add(c.rows, s.row*n, s.row*s.row*n)
	}
	if c.bytes > 0 {
		bytes.add(c.rows, s.byte*c.bytes, s.byte*s.byte*c.squares)
	}
	return rows, bytes
}

func exactly(rows, bytes int64) survey.Weight {
	return survey.Weight{
		Rows:  survey.Estimate{Value: rows, Low: rows, High: rows, Exact: true},
		Bytes: survey.Estimate{Value: bytes, Low: bytes, High: bytes, Exact: true},
	}
}
