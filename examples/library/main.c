// gbxcule build heat.py --out heat
// cc main.c -Iheat heat/libheat.a -lstdc++ -lm -o main && ./main
#include "heat.h"
#include <stdio.h>

enum { CELLS = 5 };

int main(void)
{
    float old[CELLS] = {0, 0, 10, 0, 0}, new[CELLS] = {0}, loss = 0;
    float d_old[CELLS] = {0}, d_new[CELLS] = {0}, d_loss = 1; // Gradients of the loss.
    gbx_array rod = gbx_array_of(old, d_old, sizeof *old, 1, CELLS, 1, 1, 1);
    gbx_array next = gbx_array_of(new, d_new, sizeof *new, 1, CELLS, 1, 1, 1);
    gbx_array sum = gbx_array_of(&loss, &d_loss, sizeof loss, 1, 1, 1, 1, 1);
    gbx_grid grid = gbx_grid_of(1, CELLS, 1, 1, 1);
    gbx_fault fault = {0};
    if (heat_diffuse(&grid, rod, next, 0.25f, &fault) || heat_distance(&grid, next, 1, sum, &fault)
        || heat_adj_distance(&grid, next, 1, sum, &fault) || heat_adj_diffuse(&grid, rod, next, 0.25f, &fault)) {
        char text[200];
        heat_describe(&fault, text, sizeof text);
        return fprintf(stderr, "%s\n", text), 1;
    }
    printf("loss %g, gradient", loss);
    for (int i = 0; i < CELLS; ++i)
        printf(" %g", d_old[i]);
    puts("");
}
