// gbxcule build heat.py --out heat
// c++ main.cpp -Iheat -Lheat -lheat -Wl,-rpath,heat -o main && ./main
#include "heat.h"
#include <iostream>
#include <stdexcept>
#include <vector>

static gbx_array array(std::vector<float>& data, std::vector<float>& grad)
{
    return gbx_array_of(data.data(), grad.data(), sizeof(float), 1, int32_t(data.size()), 1, 1, 1);
}

int main()
{
    std::vector<float> old = {0, 0, 10, 0, 0}, next(5), loss(1);
    std::vector<float> d_old(5), d_next(5), d_loss = {1}; // Gradients of the loss.
    gbx_grid grid = gbx_grid_of(1, 5, 1, 1, 1);
    gbx_fault fault = {};
    auto check = [&](int kind) {
        char text[200];
        if (kind != 0)
            throw std::runtime_error((heat_describe(&fault, text, sizeof text), text));
    };
    check(heat_diffuse(&grid, array(old, d_old), array(next, d_next), 0.25f, &fault));
    check(heat_distance(&grid, array(next, d_next), 1, array(loss, d_loss), &fault));
    check(heat_adj_distance(&grid, array(next, d_next), 1, array(loss, d_loss), &fault));
    check(heat_adj_diffuse(&grid, array(old, d_old), array(next, d_next), 0.25f, &fault));
    std::cout << "loss " << loss[0] << ", gradient";
    for (float d : d_old)
        std::cout << ' ' << d;
    std::cout << '\n';
}
