package status

import (
	"strconv"
	"strings"
)

// Name is the code's name, or "Location<code>" for an unnamed assertion, as in the
// server.
func Name(code int32) string {
	number := strconv.Itoa(int(code))
	for entry := range strings.FieldsSeq(names) {
		if c, name, _ := strings.Cut(entry, ":"); c == number {
			return name
		}
	}
	return "Location" + number
}

// names has "code:name" in the order of codes, of those that a router or a shard returns here or that a fault may
// return. A string constant avoids package variables; errors are rare enough to search it.
const names = `
1:InternalError 2:BadValue 4:NoSuchKey 5:GraphContainsCycle 6:HostUnreachable 7:HostNotFound 8:UnknownError
9:FailedToParse 10:CannotMutateObject 11:UserNotFound 12:UnsupportedFormat 13:Unauthorized 14:TypeMismatch 15:Overflow
16:InvalidLength 17:ProtocolError 18:AuthenticationFailed 19:CannotReuseObject 20:IllegalOperation 22:InvalidBSON
23:AlreadyInitialized 24:LockTimeout 25:RemoteValidationError 26:NamespaceNotFound 27:IndexNotFound 28:PathNotViable
30:InvalidPath 31:RoleNotFound 32:RolesNotRelated 34:CannotBackfillArray 35:UserModificationFailed
40:ConflictingUpdateOperators 43:CursorNotFound 45:UserDataInconsistent 46:LockBusy 47:NoMatchingDocument
48:NamespaceExists 49:InvalidRoleModification 50:MaxTimeMSExpired 52:DollarPrefixedFieldName 53:InvalidIdField
54:NotSingleValueField 55:InvalidDBRef 56:EmptyFieldName 59:CommandNotFound 61:ShardKeyNotFound 63:StaleShardVersion
64:WriteConcernFailed 65:MultipleErrorsOccurred 66:ImmutableField 67:CannotCreateIndex 70:ShardNotFound
72:InvalidOptions 73:InvalidNamespace 85:IndexOptionsConflict 86:IndexKeySpecsConflict 87:CannotSplit 89:NetworkTimeout
90:CallbackCanceled 91:ShutdownInProgress 93:InvalidReplicaSetConfig 96:OperationFailed 97:NoProjectionFound
100:UnsatisfiableWriteConcern 101:OutdatedClient 105:IncompatibleShardingMetadata 107:LockFailed
109:ConfigurationInProgress 112:WriteConflict 115:CommandNotSupported 117:ConflictingOperationInProgress
118:NamespaceNotSharded 121:DocumentValidationFailure 125:CommandFailed 126:RPCProtocolNegotiationFailed
127:UnrecoverableRollbackError 128:LockNotFound 133:FailedToSatisfyReadPreference 134:ReadConcernMajorityNotAvailableYet
136:CappedPositionLost 146:ExceededMemoryLimit 150:StaleEpoch 153:ChunkTooBig 163:ZoneStillInUse
168:InvalidPipelineOperator 171:CannotIndexParallelArrays 175:QueryPlanKilled 177:ZoneNotFound 178:RangeOverlapConflict
189:PrimarySteppedDown 194:BalancerInterrupted 200:ChunkRangeCleanupPending 202:NetworkInterfaceExceededTimeLimit
225:TransactionTooOld 237:CursorKilled 242:CannotCreateCollection 246:SnapshotUnavailable 249:StaleDbVersion
251:NoSuchTransaction 256:TransactionCommitted 262:ExceededTimeLimit 263:OperationNotSupportedInTransaction
272:MigrationConflict 279:ClientDisconnect 319:MovePrimaryInProgress 322:APIVersionError 323:APIStrictError
338:ReshardCollectionInProgress 339:NoSuchReshardCollection 340:ReshardCollectionCommitted 341:ReshardCollectionAborted
9001:SocketException 10107:NotWritablePrimary 10334:BSONObjectTooLarge 11000:DuplicateKey 11600:InterruptedAtShutdown
11601:Interrupted 11602:InterruptedDueToReplStateChange 13388:StaleConfig 13435:NotPrimaryNoSecondaryOk
13436:NotPrimaryOrSecondary 14031:OutOfDiskSpace
`
