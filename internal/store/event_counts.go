package store

// CountedSpans are the lengths in minutes by which changelog entries are counted besides single
// minutes, the longest first: days and hours.
var CountedSpans = [...]int64{24 * 60, 60}

// CountedPiece is the parts [From, To) of one length in minutes.
type CountedPiece struct{ Span, From, To int64 }

// CountedPieces divides the minutes [from, to) into spans that are counted, so that none lies in two
// parts of a width.
func CountedPieces(from, to, width int64) (out []CountedPiece) {
	if from >= to {
		return nil
	}
	for _, span := range CountedSpans {
		first, last := (from+span-1)/span, to/span
		if width%span != 0 || first >= last {
			continue
		}
		out = append(CountedPieces(from, first*span, width), CountedPiece{span, first, last})
		return append(out, CountedPieces(last*span, to, width)...)
	}
	return []CountedPiece{{1, from, to}}
}
