// Package doctor says what a cluster user may do of what shardboard does: which
// features it has, what each needs, and what is lacking.
//
// It promises to change nothing and to send nothing that could: a privilege that
// only a change would show is judged by what the cluster lists for the user, and
// is unknown where it lists nothing. What a read can show is tried, with reads
// that find nothing. Answers are codes and values; the words are other people's.
package doctor
