// pass: a server thread accepts TCP connections over loopback that client threads make
#include "check.h"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 2 };

static int listener;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void *client(void *argument) {
    int number = *(int *)argument, answer;
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connection >= 0);
    OK(connect(connection, (struct sockaddr *)&address, sizeof address));
    IS(sizeof number, send(connection, &number, sizeof number, 0));
    IS(sizeof answer, recv(connection, &answer, sizeof answer, MSG_WAITALL));
    IS(number * number, answer);
    IS(0, read(connection, &answer, 1)); // The server closes first.
    OK(close(connection));
    return NULL;
}

static void *server(void *) {
    for (int i = 0; i < CLIENTS; i++) {
        int number, connection = accept(listener, NULL, NULL);
        CHECK(connection >= 0);
        IS(sizeof number, recv(connection, &number, sizeof number, MSG_WAITALL));
        number *= number;
        IS(sizeof number, send(connection, &number, sizeof number, 0));
        OK(close(connection));
    }
    return NULL;
}

int main(void) {
    socklen_t length = sizeof address;
    int numbers[CLIENTS] = {3, 4};
    pthread_t clients[CLIENTS];
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK); // Any free port, so that many of us can run side by side.
    CHECK((listener = socket(AF_INET, SOCK_STREAM, 0)) >= 0);
    OK(bind(listener, (struct sockaddr *)&address, sizeof address));
    OK(listen(listener, CLIENTS));
    OK(getsockname(listener, (struct sockaddr *)&address, &length));

    pthread_t thread = start(server, NULL);
    for (int i = 0; i < CLIENTS; i++) clients[i] = start(client, &numbers[i]);
    for (int i = 0; i < CLIENTS; i++) finish(clients[i]);
    finish(thread);
    OK(close(listener));
    return 0;
}
