#pragma once
namespace geo {
class Point {
public:
    int x() const { return x_; }
private:
    int x_;
};
}
