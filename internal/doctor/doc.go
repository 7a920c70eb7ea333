// Package doctor finds out which features of shardboard a cluster user may use: what each feature
// needs and which privileges are missing.
//
// It changes nothing and sends nothing that could. Privileges that only a change would test are
// judged by the list that the cluster returns for the user, and are unknown without one. Privileges
// to read are tested by reads that find nothing. Results are codes and values; the texts are made
// elsewhere.
package doctor
