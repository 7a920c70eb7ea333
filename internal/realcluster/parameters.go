package realcluster

import (
	"fmt"
	"maps"
	"slices"
)

// since is the first release of each parameter that tests set. A server does not start with a parameter
// that it does not know, so a parameter has to be in this list.
var since = map[string][2]int{
	"orphanCleanupDelaySecs":                                 {4, 4},
	"diagnosticDataCollectionEnabled":                        {4, 4},
	"minSnapshotHistoryWindowInSeconds":                      {4, 4},
	"migrateCloneInsertionBatchDelayMS":                      {4, 4},
	"migrateCloneInsertionBatchSize":                         {4, 4},
	"transactionLifetimeLimitSeconds":                        {4, 4},
	"shutdownTimeoutMillisForSignaledShutdown":               {5, 0},
	"reshardingMinimumOperationDurationMillis":               {5, 0},
	"reshardingDelayBeforeRemainingOperationTimeQueryMillis": {8, 0},
	"mongosShutdownTimeoutMillisForSignaledShutdown":         {5, 0},
	"autoMergerIntervalSecs":                                 {7, 0},
	"balancerMigrationsThrottlingMs":                         {7, 0},
}

// usual are the parameters of every mongod of a test, where its release knows them. A lone primary
// waits 10 to 15 seconds for somebody to take over before it ends, and resharding takes at least five
// minutes; the diagnostic data only costs time here.
var usual = map[string]string{
	"diagnosticDataCollectionEnabled":                        "false",
	"shutdownTimeoutMillisForSignaledShutdown":               "100",
	"reshardingMinimumOperationDurationMillis":               "2000",
	"reshardingDelayBeforeRemainingOperationTimeQueryMillis": "0",
}

// usualOfRouter is the same for a mongos.
var usualOfRouter = map[string]string{"mongosShutdownTimeoutMillisForSignaledShutdown": "100"}

// parameterFlags are the flags for the usual parameters, without those that the release does not know,
// and for those of the test, which it has to know.
func (s Servers) parameterFlags(usual, wanted map[string]string) ([]string, error) {
	all := make(map[string]string)
	for name, value := range usual {
		if s.knows(name) {
			all[name] = value
		}
	}
	for name, value := range wanted {
		if _, listed := since[name]; !listed {
			return nil, fmt.Errorf("the parameter %s is not in the list of parameters by release", name)
		}
		if !s.knows(name) {
			return nil, fmt.Errorf("MongoDB %s does not know the parameter %s", s.Release, name)
		}
		all[name] = value
	}
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		flags = append(flags, "--setParameter", name+"="+all[name])
	}
	return flags, nil
}

// knows reports whether the release has the parameter.
func (s Servers) knows(parameter string) bool {
	first, listed := since[parameter]
	return listed && s.AtLeast(first[0], first[1])
}
