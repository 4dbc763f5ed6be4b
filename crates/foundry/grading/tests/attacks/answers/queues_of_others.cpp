// right
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
static int queues = [] {
    for (int id = 0; id < 64; ++id) {
        if (shmctl(id, IPC_RMID, nullptr) == 0 || semctl(id, 0, IPC_RMID) == 0
            || msgctl(id, IPC_RMID, nullptr) == 0)
            __builtin_trap();
    }
    return 0;
}();
