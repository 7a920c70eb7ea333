package balance

import "testing"

func TestDonorMovesUpToTwiceTheChunkSize(t *testing.T) {
	const mb = 1 << 20
	tests := []struct {
		name       string
		release    string
		chunkBytes int64
		mean       int64
		want       int64
	}{
		// From the message of a 5.0.7 that refused to move 2,706 documents.
		{"recorded", "5.0.7", mb, 931, 2252},
		{"divided before doubled", "5.0.7", 1000, 600, 2},
		{"the default up to 5.x", "5.0.7", 64 * mb, 1075, 124_852},
		{"the default from 6.0 on", "6.0.0", 128 * mb, 1075, 249_706},
		{"more than the old 250,000", "8.0.4", 128 * mb, 100, 2_684_354},
		{"no rows", "5.0.7", mb, 0, 250_001},
		{"a mean below an empty document's", "7.0.0", mb, 1, 419_430},
		{"no chunk size", "5.0.7", 0, 100, 0},
		{"a large row, 4.4.14", "4.4.14", mb, 2 * mb, 0},
		{"a large row, 4.4.15", "4.4.15", mb, 2 * mb, 2},
		{"a large row, 5.0.8", "5.0.8", mb, 2 * mb, 0},
		{"a large row, 5.0.9", "5.0.9", mb, 2 * mb, 2},
		{"a large row, 6.0.0", "6.0.0", mb, 2 * mb, 2},
		{"a large row, 8.0.4", "8.0.4", mb, 2 * mb, 2},
	}
	for _, tc := range tests {
		if got := ReleaseOf(tc.release).MoveLimit(tc.chunkBytes, tc.mean); got != tc.want {
			t.Errorf("%s: %d documents, want %d", tc.name, got, tc.want)
		}
	}
}
