"""The one table of every message this package can read or write.

Source: Kafka 4.4.0's schema files (``common/message/*.json`` in kafka-group-coordinator,
kafka-share-coordinator, kafka-transaction-coordinator and kafka-clients, ``message/*.json`` in
kafka-storage). A test compares this table with those files field by field, so that a new Kafka
release becomes a failing test. MirrorMaker's records have no schema file; they follow its source
(OffsetSync, Checkpoint, Heartbeat). The notation is explained in ``schema.py``.

Kafka's messages without a place here: ProducerSnapshot and RemoteLogSegmentMetadataSnapshotRecord
describe files on a broker's disk, not records of a topic. Record types 9 and 18 of
``__consumer_offsets`` are gone or were never released; type 24 is not in 4.4.
"""

from __future__ import annotations

from moldau.records.wire_schema import Message, parse_messages

KAFKA_VERSION = "4.4.0"

# __consumer_offsets: int16 type + key; int16 version + value.
GROUP_COORDINATOR = """
LegacyOffsetCommitKey 0 0 | group string | topic string | partition int32
LegacyOffsetCommitValue 0 0
    offset int64
    metadata string
    commitTimestamp int64
OffsetCommitKey 1 0 | group string | topic string | partition int32
OffsetCommitValue 1 0-4 flexible 4+
    offset int64
    leaderEpoch int32 3+ = -1
    metadata string
    commitTimestamp int64
    expireTimestamp int64 1 = -1
    topicId uuid 4+ tag 0
GroupMetadataKey 2 0 | group string
GroupMetadataValue 2 0-4 flexible 4+
    protocolType string
    generation int32
    protocol string?
    leader string?
    currentStateTimestamp int64 2+ = -1
    members []MemberMetadata
    struct MemberMetadata
        memberId string
        groupInstanceId string? 3+ = null
        clientId string
        clientHost string
        rebalanceTimeout int32 1+ = -1
        sessionTimeout int32
        subscription bytes
        assignment bytes
ConsumerGroupMetadataKey 3 0 | groupId string
ConsumerGroupMetadataValue 3 0 flexible 0+
    epoch int32
    metadataHash int64 tag 0 = 0
ConsumerGroupPartitionMetadataKey 4 0 | groupId string
ConsumerGroupPartitionMetadataValue 4 0 flexible 0+
    topics []TopicMetadata
        topicId uuid
        topicName string
        numPartitions int32
        partitionMetadata []PartitionMetadata
            partition int32
            racks []string
ConsumerGroupMemberMetadataKey 5 0 | groupId string | memberId string
ConsumerGroupMemberMetadataValue 5 0 flexible 0+
    instanceId string?
    rackId string?
    clientId string
    clientHost string
    subscribedTopicNames []string
    subscribedTopicRegex string?
    rebalanceTimeoutMs int32 = -1
    serverAssignor string?
    classicMemberMetadata ClassicMemberMetadata? tag 0
        sessionTimeoutMs int32
        supportedProtocols []ClassicProtocol
            name string
            metadata bytes
ConsumerGroupTargetAssignmentMetadataKey 6 0 | groupId string
ConsumerGroupTargetAssignmentMetadataValue 6 0 flexible 0+
    assignmentEpoch int32
    assignmentTimestamp int64 tag 0 = 0
ConsumerGroupTargetAssignmentMemberKey 7 0 | groupId string | memberId string
ConsumerGroupTargetAssignmentMemberValue 7 0 flexible 0+
    topicPartitions []TopicPartition
        topicId uuid
        partitions []int32
ConsumerGroupCurrentMemberAssignmentKey 8 0 | groupId string | memberId string
ConsumerGroupCurrentMemberAssignmentValue 8 0 flexible 0+
    memberEpoch int32
    previousMemberEpoch int32
    state int8
    assignedPartitions []TopicPartitions
    partitionsPendingRevocation []TopicPartitions
    struct TopicPartitions
        topicId uuid
        partitions []int32
        assignmentEpochs []int32? tag 0
ShareGroupMemberMetadataKey 10 0 | groupId string | memberId string
ShareGroupMemberMetadataValue 10 0 flexible 0+
    rackId string?
    clientId string
    clientHost string
    subscribedTopicNames []string
ShareGroupMetadataKey 11 0 | groupId string
ShareGroupMetadataValue 11 0 flexible 0+
    epoch int32
    metadataHash int64
ShareGroupTargetAssignmentMetadataKey 12 0 | groupId string
ShareGroupTargetAssignmentMetadataValue 12 0 flexible 0+
    assignmentEpoch int32
    assignmentTimestamp int64 tag 0 = 0
ShareGroupTargetAssignmentMemberKey 13 0 | groupId string | memberId string
ShareGroupTargetAssignmentMemberValue 13 0 flexible 0+
    topicPartitions []TopicPartition
        topicId uuid
        partitions []int32
ShareGroupCurrentMemberAssignmentKey 14 0 | groupId string | memberId string
ShareGroupCurrentMemberAssignmentValue 14 0 flexible 0+
    memberEpoch int32
    previousMemberEpoch int32
    state int8
    assignedPartitions []TopicPartitions
    struct TopicPartitions
        topicId uuid
        partitions []int32
ShareGroupStatePartitionMetadataKey 15 0 | groupId string
ShareGroupStatePartitionMetadataValue 15 0 flexible 0+
    initializingTopics []TopicPartitionsInfo
    initializedTopics []TopicPartitionsInfo
    deletingTopics []TopicInfo
    struct TopicPartitionsInfo
        topicId uuid
        topicName string
        partitions []int32
    struct TopicInfo
        topicId uuid
        topicName string
ConsumerGroupRegularExpressionKey 16 0 | groupId string | regularExpression string
ConsumerGroupRegularExpressionValue 16 0 flexible 0+
    topics []string
    version int64
    timestamp int64
StreamsGroupMetadataKey 17 0 | groupId string
StreamsGroupMetadataValue 17 0 flexible 0+
    epoch int32
    metadataHash int64
    validatedTopologyEpoch int32 tag 0 = -1
    lastAssignmentConfigs []LastAssignmentConfig? tag 1
    storedDescriptionTopologyEpoch int32 tag 2 = -1
    failedDescriptionTopologyEpoch int32 tag 3 = -1
    struct LastAssignmentConfig
        key string
        value string
StreamsGroupMemberMetadataKey 19 0 | groupId string | memberId string
StreamsGroupMemberMetadataValue 19 0 flexible 0+
    instanceId string?
    rackId string?
    clientId string
    clientHost string
    rebalanceTimeoutMs int32 = -1
    topologyEpoch int32
    processId string
    userEndpoint Endpoint? = null
    clientTags []KeyValue
    struct Endpoint
        host string
        port uint16
    struct KeyValue
        key string
        value string
StreamsGroupTargetAssignmentMetadataKey 20 0 | groupId string
StreamsGroupTargetAssignmentMetadataValue 20 0 flexible 0+
    assignmentEpoch int32
    assignmentTimestamp int64 tag 0 = 0
StreamsGroupTargetAssignmentMemberKey 21 0 | groupId string | memberId string
StreamsGroupTargetAssignmentMemberValue 21 0 flexible 0+
    activeTasks []TaskIds
    standbyTasks []TaskIds
    warmupTasks []TaskIds
    struct TaskIds
        subtopologyId string
        partitions []int32
StreamsGroupCurrentMemberAssignmentKey 22 0 | groupId string | memberId string
StreamsGroupCurrentMemberAssignmentValue 22 0 flexible 0+
    memberEpoch int32
    previousMemberEpoch int32
    state int8
    activeTasks []TaskIds
    standbyTasks []TaskIds
    warmupTasks []TaskIds
    activeTasksPendingRevocation []TaskIds
    standbyTasksPendingRevocation []TaskIds
    warmupTasksPendingRevocation []TaskIds
    struct TaskIds
        subtopologyId string
        partitions []int32
        assignmentEpochs []int32? tag 0
StreamsGroupTopologyKey 23 0 | groupId string
StreamsGroupTopologyValue 23 0 flexible 0+
    epoch int32
    subtopologies []Subtopology
        subtopologyId string
        sourceTopics []string
        sourceTopicRegex []string
        stateChangelogTopics []TopicInfo
        repartitionSinkTopics []string
        repartitionSourceTopics []TopicInfo
        copartitionGroups []CopartitionGroup
            sourceTopics []int16
            sourceTopicRegex []int16
            repartitionSourceTopics []int16
    struct TopicConfig
        key string
        value string
    struct TopicInfo
        name string
        partitions int32
        replicationFactor int16
        topicConfigs []TopicConfig
"""

# __share_group_state: framed as __consumer_offsets.
SHARE_COORDINATOR = """
ShareSnapshotKey 0 0 | groupId string | topicId uuid | partition int32
ShareSnapshotValue 0 0 flexible 0+
    snapshotEpoch int32
    stateEpoch int32
    leaderEpoch int32
    startOffset int64
    deliveryCompleteCount int32 tag 0 = -1
    createTimestamp int64
    writeTimestamp int64
    stateBatches []StateBatch
        firstOffset int64
        lastOffset int64
        deliveryState int8
        deliveryCount int16
ShareUpdateKey 1 0 | groupId string | topicId uuid | partition int32
ShareUpdateValue 1 0 flexible 0+
    snapshotEpoch int32
    leaderEpoch int32
    startOffset int64
    deliveryCompleteCount int32 tag 0 = -1
    stateBatches []StateBatch
        firstOffset int64
        lastOffset int64
        deliveryState int8
        deliveryCount int16
"""

# __transaction_state: framed as __consumer_offsets.
TRANSACTION_COORDINATOR = """
TransactionLogKey 0 0 | transactionalId string
TransactionLogValue 0 0-1 flexible 1+
    producerId int64
    previousProducerId int64 1+ tag 0 = -1
    nextProducerId int64 1+ tag 1 = -1
    producerEpoch int16
    nextProducerEpoch int16 1+ tag 3 = -1
    transactionTimeoutMs int32
    transactionStatus int8
    transactionPartitions []PartitionsSchema?
        topic string
        partitionIds []int32
    transactionLastUpdateTimestampMs int64
    transactionStartTimestampMs int64
    clientTransactionVersion int16 1+ tag 2 = 0
"""

# __remote_log_metadata: no key; uvarint frame version 1, api key, version, then the message.
REMOTE_LOG = """
RemoteLogSegmentMetadataRecord 0 0 flexible 0+
    remoteLogSegmentId RemoteLogSegmentIdEntry
        topicIdPartition TopicIdPartitionEntry
            name string
            id uuid
            partition int32
        id uuid
    startOffset int64
    endOffset int64
    brokerId int32
    maxTimestampMs int64
    eventTimestampMs int64
    segmentLeaderEpochs []SegmentLeaderEpochEntry
        leaderEpoch int32
        offset int64
    segmentSizeInBytes int32
    customMetadata bytes? = null
    remoteLogSegmentState int8
    txnIndexEmpty bool tag 0
RemoteLogSegmentMetadataUpdateRecord 1 0 flexible 0+
    remoteLogSegmentId RemoteLogSegmentIdEntry
        topicIdPartition TopicIdPartitionEntry
            name string
            id uuid
            partition int32
        id uuid
    brokerId int32
    eventTimestampMs int64
    customMetadata bytes? = null
    remoteLogSegmentState int8
RemotePartitionDeleteMetadataRecord 2 0 flexible 0+
    topicIdPartition TopicIdPartitionEntry
        name string
        id uuid
        partition int32
    brokerId int32
    eventTimestampMs int64
    remotePartitionDeleteState int8
"""

# MirrorMaker 2: no type in the key; an int16 version before a checkpoint's and a heartbeat's value.
MIRROR = """
OffsetSyncKey - 0 | topic string | partition int32
OffsetSyncValue - 0
    upstreamOffset int64
    downstreamOffset int64
CheckpointKey - 0 | group string | topic string | partition int32
CheckpointValue - 0
    upstreamOffset int64
    downstreamOffset int64
    metadata string
HeartbeatKey - 0 | sourceClusterAlias string | targetClusterAlias string
HeartbeatValue - 0
    timestamp int64
"""

# Inside the bytes of classic members: int16 version + message.
CONSUMER_PROTOCOL = """
ConsumerProtocolAssignment - 0-3
    assignedPartitions []TopicPartition
        topic string
        partitions []int32
    userData bytes? = null
ConsumerProtocolSubscription - 0-3
    topics []string
    userData bytes? = null
    ownedPartitions []TopicPartition 1+
        topic string 1+
        partitions []int32 1+
    generationId int32 2+ = -1
    rackId string? 3+ = null
"""


def _by_name(text: str) -> dict[str, Message]:
    return {message.name: message for message in parse_messages(text)}


GROUP_COORDINATOR_MESSAGES = _by_name(GROUP_COORDINATOR)
SHARE_COORDINATOR_MESSAGES = _by_name(SHARE_COORDINATOR)
TRANSACTION_COORDINATOR_MESSAGES = _by_name(TRANSACTION_COORDINATOR)
REMOTE_LOG_MESSAGES = _by_name(REMOTE_LOG)
MIRROR_MESSAGES = _by_name(MIRROR)
CONSUMER_PROTOCOL_MESSAGES = _by_name(CONSUMER_PROTOCOL)
